import lxml.etree as etree

root = etree.fromstring(b"<shop><item price='4'>tea</item><item price='9'>mug</item></shop>")
print(root.xpath("//item[@price > 5]/text()"), root.xpath("sum(//item/@price)"))
transform = etree.XSLT(etree.XML("""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="text"/><xsl:template match="/"><xsl:for-each select="//item"><xsl:value-of select="."/>;</xsl:for-each>
</xsl:template></xsl:stylesheet>"""))
print(str(transform(root)))
etree.SubElement(root, "item", price="1").text = "spoon"
print(etree.tostring(root, pretty_print=True).decode().count("item"))
