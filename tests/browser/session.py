"""The browser and the program that all tests use; browser_test.py makes them."""
program = None
browser = None
axe = None  # the source of axe-core, or None
