import { JsonScanner } from "./json-state";

// AssemblyScript has no inline arrays, so room inside a fixed-size object is spelt out as fields.
// It starts right behind the scanner's own fields, where `textOf` looks for it.

/** A scanner with room for 128 bytes of text. */
@unmanaged
export class TextScanner128 extends JsonScanner {
  text0: u64;
  text8: u64;
  text16: u64;
  text24: u64;
  text32: u64;
  text40: u64;
  text48: u64;
  text56: u64;
  text64: u64;
  text72: u64;
  text80: u64;
  text88: u64;
  text96: u64;
  text104: u64;
  text112: u64;
  text120: u64;
}

/** A scanner with room for 256 bytes of text. */
@unmanaged
export class TextScanner256 extends TextScanner128 {
  text128: u64;
  text136: u64;
  text144: u64;
  text152: u64;
  text160: u64;
  text168: u64;
  text176: u64;
  text184: u64;
  text192: u64;
  text200: u64;
  text208: u64;
  text216: u64;
  text224: u64;
  text232: u64;
  text240: u64;
  text248: u64;
}

/** A scanner with room for 512 bytes of text. */
@unmanaged
export class TextScanner512 extends TextScanner256 {
  text256: u64;
  text264: u64;
  text272: u64;
  text280: u64;
  text288: u64;
  text296: u64;
  text304: u64;
  text312: u64;
  text320: u64;
  text328: u64;
  text336: u64;
  text344: u64;
  text352: u64;
  text360: u64;
  text368: u64;
  text376: u64;
  text384: u64;
  text392: u64;
  text400: u64;
  text408: u64;
  text416: u64;
  text424: u64;
  text432: u64;
  text440: u64;
  text448: u64;
  text456: u64;
  text464: u64;
  text472: u64;
  text480: u64;
  text488: u64;
  text496: u64;
  text504: u64;
}
