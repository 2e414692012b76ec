"""The pages of the codes, as data: `WT0204.txt` says what it means and why it matters, `WT0204.fail.flow` has
it, `WT0204.ok.flow` is mended. A case may hold several files, each after a line `# === name.flow`.
"""
