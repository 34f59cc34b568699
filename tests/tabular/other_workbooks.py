"""Workbooks that Excel of today did not write, made by hand."""

from .files import packed

NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text")
)
# An .xls of two sheets, as xlwt 1.3.0 wrote it, compressed; all of its text is invented.
OLD_WORKBOOK = (
    "c-rk)O-NKx6#nj;H$R$=<6oeGyo9Vw1#8pBrowVHViEL1P}iB4P7X8j=C!a*mbnaqRz(}Zf;Lv0eyE_JMMR*~A_xMlrK"
    "_Nzg*u&k-kV9yz=1N1_dV{p=bU@*IrrUr?$3Kula<qB_v>e{413_iLaqdXMLI#LBrilj<++?<^LdC;&cnJwNr)yg;K!5"
    "lH$gRrYQATn;hz42DDa8WNerSplQxYt#D4CB6siv$LZ{f%aFbFPb=<Eirg5g#Oz(2tr%d;<<_gmesyi)CU^3d>yxWcAV"
    "_GAZg^3D0<Tf8z(~eraQgM9Ys&MN1vCm4%)H*9@(919mn$j*aZCXmMz%7&l#|f>mSZinJG-_zN$MG#^0AKU#`nloh*H$"
    "k;`tM8i!QbdZG>Oag*EAg%M((sw!90p`yw+8TpBAlcW=By5gST-Vozj+bn4&7+MDY=m3DY<?NL;4(tQoi43*1iH&$DLQ"
    "Hq&vF+FR02ru%$ALJpDr1Z@a(81%`k(Pt%7sW7d^erd%sGUX_0DE6qZ-;{Qi92jS0);6s+KVVxjnWlU&CDZ0+h$FBdkw"
    "h9<dNoOsNqHP8$|Y${(io^V3@XnMXQQ8VLr}7$yiLV5oSiJPWG5@<^<73ZfePj;d6h?KAm{FUc^m8PiJoH3FrQw|8Mj3"
    "ZC~~-{T2SL~p~Ruh++qjQOKf!$^Yu(?Xy7St>Zx^^gCkt$GM6@ypIwZ1(XEU4ZN!hx9(vR;`Z>Ct_=&EW^EDIiqhn~KG"
    "dDr))iZ(?(IReKS9l!F=fd3$KQgWRWoHa&5x4I-_aLvpJdYV@JovQNs_;NnrJeI9)?!qB$Xi{nqZ(LoRMi_hQhszCNh8"
    "TukbETR1xY8#Uy%GH1zbO31wVrQ1l{_A{e%jV@}ur*&*&`#`zhs9^Y%-P{P?vH9~G*f%D%ROeU0sxx)z;T-cXQ~{W90S"
    "#`b4@%Kk*bzQ*?5*uqM&<-vmo4<0;t_%{%ICvom!I^Q~++gQ;3uQN|+!TU|}-{LTRQDx|h%D@5o(z5AGYpAIB*$BVL+Y"
    "+m6lmB0+aFo1T7(g%gW1#5xrQ4@i{64F082NKcs966C#q{$p`~LwQj5po"
)


def cell(kind: str, shown: str, **value: str) -> str:
    """A cell of a kind, with the text that is shown and the value behind it."""
    given = "".join(
        f' office:{name if name == "value" else f"{name}-value"}="{text}"'
        for name, text in value.items()
    )
    return (
        f'<table:table-cell office:value-type="{kind}"{given}><text:p>{shown}</text:p>'
        "</table:table-cell>"
    )


def cells(*texts: str) -> str:
    """Cells of texts."""
    return "".join(cell("string", text) for text in texts)


def row(content: str) -> str:
    """A row of cells."""
    return f"<table:table-row>{content}</table:table-row>"


def ods(rows: str) -> bytes:
    """An OpenDocument spreadsheet with one sheet."""
    content = (
        f"<office:document-content {NAMES}><office:body><office:spreadsheet>"
        f'<table:table table:name="Data">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    listed = (
        f'<m:manifest xmlns:m="{manifest}"><m:file-entry m:full-path="/" m:media-type="{kind}"/>'
        "</m:manifest>"
    )
    parts = {"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": listed}
    return packed(parts)
