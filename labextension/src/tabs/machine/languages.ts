/** Tokens of what a kernel is compiled to. */

import { NUMBER, RULES, STRING, type Rule } from "../../model/highlight";

const LANGUAGES: Record<string, Rule[]> = {
  llvm: [
    ["com", ";.*"],
    STRING,
    ["name", String.raw`%[\w$.-]+`],
    ["ref", String.raw`@[\w$.-]+|@"[^"]*"`],
    ["type", String.raw`\b(?:i\d+|float|double|half|bfloat|ptr|void|label|fp128)\b`],
    ["kw", String.raw`\b(?:define|declare|attributes|target|source_filename|ret|br|switch|unreachable|to|x)\b`],
    ["attr", String.raw`!\w[\w.]*|#\d+`],
    ["op", String.raw`(?<= = )(?:tail )?[a-z]\w*|(?<=^ +)[a-z]\w*(?= )`],
    NUMBER,
    ["", String.raw`[A-Za-z_][\w.]*`],
  ],
  asm: [
    ["com", ";.*|#.*|<[^>]*>"],
    ["ref", String.raw`^\S+:$|\.L[\da-f]+\b`],
    ["com", String.raw`^\s*[\da-f]+:`],
    ["op", String.raw`(?<=^\s*[\da-f]+:\s+)[a-z][\w.]*`],
    ["kw", String.raw`\b(?:[xyz]mmword|[qdo]?word|byte|ptr|[XYZ]MMWORD|[QDO]?WORD|BYTE|PTR)\b`],
    ["name", String.raw`\b(?:[re]?(?:[abcd]x|[sd]i|[sb]p|ip)|[abcd][lh]|[sd]il|[sb]pl|r\d+[dwb]?|[xyz]mm\d+|k[0-7]|[xwvqdsbh]\d+|xzr|wzr|lr)\b`],
    NUMBER,
    ["", String.raw`[A-Za-z_][\w.]*`],
  ],
  ptx: [
    ["com", "//.*"],
    STRING,
    ["ref", String.raw`^\$?[\w$]+:|\$L_\w+`],
    ["name", String.raw`%[\w.]+`],
    ["op", String.raw`(?<=^\s+(?:@!?%\w+\s+)?)[a-z][\w.:]*`],
    ["kw", String.raw`(?<!\w)\.(?:visible|entry|func|param|reg|shared|global|const|local|extern|align|version|target|address_size|pragma|reqntid|maxntid|minnctapersm|maxnreg)\b`],
    ["type", String.raw`(?<!\w)\.(?:[usbf]\d+\w*|pred|ptr|v[248])\b`],
    NUMBER,
    ["", String.raw`[A-Za-z_][\w$.]*`],
  ],
  sass: [
    ["com", String.raw`//.*|/\*.*?\*/`],
    ["ref", String.raw`\.L_\w+|^[\w.$]+:$`],
    ["attr", String.raw`@!?U?P[\dT]+`],
    ["op", String.raw`(?<=\*/\s+(?:@!?U?P[\dT]+\s+)?)[A-Z][\w.]*`],
    ["name", String.raw`\b(?:UR\d+|R\d+|URZ|RZ|UP[\dT]|P[\dT]|B\d+|SR_[\w.]+)`],
    ["kw", String.raw`^\s*\.\w+`],
    NUMBER,
    ["", String.raw`[A-Za-z_][\w.]*`],
  ],
  bundles: [
    ["com", String.raw`/\*.*?\*/|^= .*`],
    ["attr", String.raw`^\s*(?:0x)?[\da-f]+ *(?:\w\w)? *(?=:)`],
    ["name", String.raw`%\w+`],
    ["op", String.raw`(?<= = )[a-z][\w.]*`],
    NUMBER,
    ["", String.raw`[A-Za-z_][\w.]*`],
  ],
};

/** Has these kinds of document coloured. */
export function addLanguages(): void {
  Object.assign(RULES, LANGUAGES);
}
