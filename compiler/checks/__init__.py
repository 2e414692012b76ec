"""Checks on typed workflows, one file per band of codes.

Reading order; each file imports only files above it:

checker   all of them, and all findings in order
"""
