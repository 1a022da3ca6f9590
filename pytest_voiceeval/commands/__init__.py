"""Commands of ``python -m pytest_voiceeval``, one a module: ``add_parser`` declares it, ``run`` does it."""
