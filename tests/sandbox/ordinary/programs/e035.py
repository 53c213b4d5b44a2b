import io
import zipfile

book = io.BytesIO()
with zipfile.ZipFile(book, "w") as archive:
    archive.writestr("mimetype", "application/epub+zip")
    archive.writestr("text/1.html", "<p>One</p>")
print(zipfile.is_zipfile(book), [name for name in zipfile.ZipFile(book).namelist()], len(book.getvalue()) > 200)
