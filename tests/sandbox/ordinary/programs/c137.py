import venv, os
venv.create("env", with_pip=False, symlinks=True)
print(os.path.exists("env/bin/python"), os.path.exists("env/pyvenv.cfg"))
