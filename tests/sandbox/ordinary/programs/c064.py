from pyarrow import fs
local = fs.LocalFileSystem()
local.create_dir("a/b")
with local.open_output_stream("a/b/c.txt") as f:
    f.write(b"hello")
print([i.base_name for i in local.get_file_info(fs.FileSelector("a", recursive=True))])
