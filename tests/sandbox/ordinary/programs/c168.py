from bs4 import BeautifulSoup
import lxml.html, lxml.etree
h = "<table><tr><th>a<th>b<tr><td>1<td>2</table><a href='/x'>x</a>"
print([td.text for td in BeautifulSoup(h, "lxml").find_all("td")], lxml.html.fromstring(h).xpath("//a/@href"))
import pandas as pd, io
print(pd.read_html(io.StringIO(h))[0].to_dict("records"), BeautifulSoup(h, "html.parser").a["href"])
