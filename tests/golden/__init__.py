"""The golden runner: figures of the reference harness, in files, held against this code.

``python -m tests.golden FILE…`` from the root of the repository takes any file in the forms of scenario
records, tool calls and scoring cases.
"""
