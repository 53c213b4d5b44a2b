import xml.etree.ElementTree as ET

FEED = """<rss><channel><title>News</title>
<item><title>First</title><link>https://example.com/1</link></item>
<item><title>Second</title><link>https://example.com/2</link></item>
</channel></rss>"""
root = ET.fromstring(FEED)
for item in root.iter("item"):
    print(item.findtext("title"), "->", item.findtext("link"))
ET.SubElement(root.find("channel"), "generator").text = "demo"
ET.indent(root)
print(ET.tostring(root, encoding="unicode").count("\n"))
