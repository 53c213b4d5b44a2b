"""Sinks of libraries for data analysis: files and addresses they take; `sinks` says how to read a line."""

from __future__ import annotations

from typing import Final

TABLE: Final = """
pandas.read_csv                   load 0 filepath_or_buffer
pandas.read_table                 load 0 filepath_or_buffer
pandas.read_fwf                   load 0 filepath_or_buffer
pandas.read_excel                 load 0 io
pandas.ExcelFile                  load 0 path_or_buffer
pandas.ExcelWriter                save 0 path
pandas.read_json                  load 0 path_or_buf
pandas.read_html                  load 0 io
pandas.read_xml                   load 0 path_or_buffer
pandas.read_parquet               load 0 path
pandas.read_feather               load 0 path
pandas.read_orc                   load 0 path
pandas.read_hdf                   load 0 path_or_buf
pandas.HDFStore                   write 0 path
pandas.read_sas                   load 0 filepath_or_buffer
pandas.read_spss                  load 0 path
pandas.read_stata                 load 0 filepath_or_buffer
pandas.read_pickle                load 0 filepath_or_buffer; review deserialize.untrusted
pandas.read_sql                   sql 0 sql
pandas.read_sql_query             sql 0 sql
pandas.read_clipboard             review process.inspect
pandas.eval                       code 0 expr
polars.read_csv                   load 0 source
polars.scan_csv                   load 0 source
polars.read_parquet               load 0 source
polars.scan_parquet               load 0 source
polars.read_json                  load 0 source
polars.read_excel                 load 0 source
pyarrow.parquet.read_table        load 0 source
pyarrow.csv.read_csv              load 0 input_file
numpy.load                        load 0 file
numpy.loadtxt                     load 0 fname
numpy.genfromtxt                  load 0 fname
numpy.fromfile                    load 0 file
numpy.memmap                      open 0 filename
numpy.save                        save 0 file
numpy.savez                       save 0 file
numpy.savez_compressed            save 0 file
numpy.savetxt                     save 0 fname
matplotlib.pyplot.savefig         save 0 fname
matplotlib.pyplot.imread          load 0 fname
matplotlib.pyplot.imsave          save 0 fname
matplotlib.image.imread           load 0 fname
PIL.Image.open                    load 0 fp
cv2.imread                        read 0 filename
cv2.imwrite                       write 0 filename
imageio.imread                    load 0 uri
imageio.imwrite                   save 0 uri
scipy.io.loadmat                  read 0 file_name
scipy.io.savemat                  write 0 file_name
scipy.io.wavfile.read             load 0 filename
openpyxl.load_workbook            load 0 filename
docx.Document                     loadopt 0 docx
PyPDF2.PdfReader                  load 0 stream
pypdf.PdfReader                   load 0 stream
pdfplumber.open                   load 0 path_or_fp
fitz.open                         loadopt 0 filename
geopandas.read_file               load 0 filename
joblib.dump                       save 1 filename
joblib.load                       load 0 filename; review deserialize.untrusted
torch.load                        load 0 f; review deserialize.untrusted
torch.save                        save 1 f
torch.hub.load                    review exec.download
torch.hub.load_state_dict_from_url url 0 url
keras.models.load_model           read 0 filepath; review deserialize.untrusted
shap.datasets.adult               review network.implicit
seaborn.load_dataset              review network.implicit
sklearn.datasets.fetch_openml     review network.implicit
sklearn.datasets.fetch_california_housing review network.implicit
sklearn.datasets.fetch_20newsgroups review network.implicit
nltk.download                     review network.implicit
yfinance.download                 review network.implicit
yfinance.Ticker                   review network.implicit
datasets.load_dataset             review network.implicit
transformers.pipeline             review network.implicit
wikipedia.summary                 review network.implicit
wikipedia.page                    review network.implicit
kagglehub.dataset_download        review network.implicit
huggingface_hub.hf_hub_download   review network.implicit
"""
