import xml.dom.minidom
import xml.sax.saxutils

document = xml.dom.minidom.parseString("<menu><dish price='4'>Soup</dish><dish price='9'>Pasta</dish></menu>")
for dish in document.getElementsByTagName("dish"):
    print(dish.firstChild.data, dish.getAttribute("price"))
print(document.documentElement.toprettyxml(indent=" ").count("\n"), xml.sax.saxutils.escape("<a & b>"))
