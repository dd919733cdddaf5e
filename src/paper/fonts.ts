import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { create, type Font } from 'fontkit';
import { toSfnt } from './woff.ts';

/**
 * The OpenType features of a text: the font's ligatures, no ligatures, or digits of equal width. Kerning is off: it would move the
 * point of `7.00` below the 7, and programs that extract text from a PDF would read it as another line.
 */
export type Shaping = 'ligatures' | 'plain' | 'figures';

const FEATURES = {
  ligatures: {},
  plain: { rlig: false, liga: false },
  figures: { tnum: true, kern: false },
} as const satisfies Record<Shaping, object>;

export type Weight = 'regular' | 'bold';

export interface PaperFont {
  readonly name: string;
  readonly bytes: Buffer;
  readonly face: Font;
}

const resolve = createRequire(import.meta.url).resolve;

/** The folder to which the build copies the font files in use. The packages of the fonts, of 25 MB, are only for development. */
export const BUILT_FONTS = join(import.meta.dirname, '../../web/dist/fonts');

/** Font files in the order in which they are searched for a letter. */
const FILES: readonly (readonly [family: string, letters: string, bold: string])[] = [
  ['inter', 'latin', '600'],
  ['inter', 'latin-ext', '600'],
  ['ibm-plex-sans-arabic', 'arabic', '600'],
  ['biz-udpgothic', 'japanese', '700'],
  ['inter', 'cyrillic', '600'],
  ['inter', 'greek', '600'],
  ['inter', 'vietnamese', '600'],
];

/** Every font file that a receipt may need, and its path in a package. */
export function fontFiles(): { readonly file: string; readonly packaged: string }[] {
  return FILES.flatMap((file) =>
    (['regular', 'bold'] as const).map((weight) => {
      const name = nameOf(file, weight);
      return { file: fileOf(name), packaged: packagedFont(file, name) };
    }),
  );
}

function nameOf([family, letters, bold]: (typeof FILES)[number], weight: Weight): string {
  return `${family}-${letters}-${weight === 'bold' ? bold : '400'}-normal`;
}

const fileOf = (name: string) => `${name}.woff`;

function packagedFont([family]: (typeof FILES)[number], name: string): string {
  return resolve(`@fontsource/${family}/files/${fileOf(name)}`);
}

const opened = new Map<string, PaperFont>();

/** The font of a file. It is opened at first use, because the Japanese font takes long to open. */
function openFont(file: (typeof FILES)[number], weight: Weight): PaperFont {
  const name = nameOf(file, weight);
  const known = opened.get(name);
  if (known !== undefined) return known;
  const built = join(BUILT_FONTS, fileOf(name));
  const bytes = toSfnt(readFileSync(existsSync(built) ? built : packagedFont(file, name)));
  const face = create(bytes);
  if (!('layout' in face)) throw new TypeError(`${name} is a collection of fonts`);
  const font = { name, bytes, face };
  opened.set(name, font);
  return font;
}

/** Characters that are not drawn, such as variation selectors and joiners. */
const UNDRAWN = /\p{Default_Ignorable_Code_Point}/u;

/**
 * The bound of each of the two caches. Receipts use the same letters and words again and again, but unusual texts must not fill the
 * memory.
 */
const MAX_REMEMBERED = 20_000;
const chosen = new Map<string, PaperFont | undefined>();
const widths = new Map<string, number>();

/** The first font that has all letters of this grapheme cluster, or undefined. */
export function fontFor(cluster: string, weight: Weight): PaperFont | undefined {
  const key = `${weight} ${cluster}`;
  if (!chosen.has(key)) remember(chosen, key, findFont(cluster, weight));
  return chosen.get(key);
}

function findFont(cluster: string, weight: Weight): PaperFont | undefined {
  const letters = [...cluster].filter((letter) => !UNDRAWN.test(letter));
  for (const file of FILES) {
    const font = openFont(file, weight);
    if (letters.every((letter) => font.face.hasGlyphForCodePoint(letter.codePointAt(0) ?? 0))) return font;
  }
  return undefined;
}

/** The width of the shaped text: shaping joins Arabic letters and moves marks, so widths of letters cannot be added. */
export function widthOf({ name, face }: PaperFont, text: string, size: number, shaping: Shaping = 'ligatures'): number {
  const key = `${name} ${shaping} ${text}`;
  const width = widths.get(key) ?? face.layout(text, featuresOf(shaping)).advanceWidth / face.unitsPerEm;
  remember(widths, key, width);
  return width * size;
}

/** The OpenType features of a shaping. Each call returns a copy, because the font libraries modify the object. */
export function featuresOf(shaping: Shaping): OpenTypeFeature[] {
  return { ...FEATURES[shaping] } as unknown as OpenTypeFeature[];
}

type OpenTypeFeature = PDFKit.Mixins.OpenTypeFeatures;

function remember<Value>(known: Map<string, Value>, key: string, value: Value): void {
  if (known.size >= MAX_REMEMBERED) known.clear();
  known.set(key, value);
}
