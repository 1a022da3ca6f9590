from __future__ import annotations

import pytest


def test_the_folder_starts_where_it_was_written(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        from pathlib import Path

        def test_flag(voice_settings, request):
            assert voice_settings.cache_dir == request.config.invocation_params.dir / "kept"

        def test_ini(voice_settings, request):
            assert voice_settings.cache_dir == request.config.rootpath / "kept here"

        def test_none(voice_settings):
            assert voice_settings.cache_dir is None

        def test_user(voice_settings):
            assert "pytest-voiceeval" in voice_settings.cache_dir.parts
            assert not voice_settings.cache_dir.exists()
        """
    )
    project.runpytest("-k", "test_user").assert_outcomes(passed=1)
    project.makeini("[pytest]\nvoice_cache_dir = kept here\n")
    project.runpytest("-k", "test_ini").assert_outcomes(passed=1)
    project.runpytest("-k", "test_flag", "--voice-cache-dir=kept").assert_outcomes(passed=1)
    project.runpytest("-k", "test_none", "--voice-cache-dir=none").assert_outcomes(passed=1)
    project.runpytest("-k", "test_none", "--voice-cache-dir=none", "-n1").assert_outcomes(passed=1)
    assert not (project.path / "kept").exists()


def test_a_folder_that_cannot_be_made_is_a_usage_error(project: pytest.Pytester) -> None:
    project.makefile(".txt", taken="")
    result = project.runpytest("--voice-cache-dir=taken.txt/below")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*--voice-cache-dir=taken.txt/below: cannot be made; write a folder that can*"]
    )
    result.stderr.no_fnmatch_line("*Traceback*")
    project.makeini("[pytest]\nvoice_cache_dir = taken.txt\n")
    result = project.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*voice_cache_dir=taken.txt: cannot be made*"])
