/// <reference path="./linebreak.d.ts" />
import bidiFactory, { type Bidi } from 'bidi-js';
import LineBreaker from 'linebreak';
import { fontFor, type PaperFont, type Shaping, type Weight, widthOf } from './fonts.ts';

/** A part of a line that has one font. Pieces are drawn from left to right. */
export interface Piece {
  readonly text: string;
  readonly font: PaperFont;
  readonly width: number;
  /** Undefined for ordinary text, which is shaped word by word. */
  readonly shaping?: Shaping;
}

export interface TextLine {
  readonly pieces: readonly Piece[];
  readonly width: number;
}

export interface TextStyle {
  readonly size: number;
  readonly weight: Weight;
  readonly dir: 'ltr' | 'rtl';
  /** True for hashes, addresses and commands. They are broken at a space, or anywhere if a word is longer than the line. */
  readonly isCode?: boolean;
}

interface Cluster {
  readonly text: string;
  readonly font: PaperFont;
  readonly level: number;
}

// The types of `bidi-js` describe a module format that the package does not have.
const bidi = (bidiFactory as unknown as () => Bidi)();
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** Direction marks, isolates and embeddings. They order the text and are not drawn. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/gu;
const REPLACEMENT = '\ufffd';
/** The bound for one text. Texts of receipts are shorter. */
const MAX_CHARS = 2_000;

/** Breaks a text into lines of at most `maxWidth`. Words wider than a line are broken anywhere. */
export function linesOf(source: string, style: TextStyle, maxWidth: number): TextLine[] {
  const text = source.slice(0, MAX_CHARS).replace(CONTROL, ' ').normalize('NFC');
  const lines: Cluster[][] = [];
  let line: Cluster[] = [];
  let used = 0;
  for (const word of wordsOf(text, clustersOf(text, style), style)) {
    let rest = word;
    if (line.length > 0 && used + widthIn(rest, style) > maxWidth) {
      lines.push(line);
      line = [];
      used = 0;
    }
    while (widthIn(rest, style) > maxWidth && rest.length > 1) {
      const count = fittingCount(rest, style, maxWidth);
      lines.push(rest.slice(0, count));
      rest = rest.slice(count);
    }
    line.push(...rest);
    used += toLine(rest, style).width;
  }
  lines.push(line);
  return lines.map((each) => toLine(withoutEdgeSpace(each), style)).filter(({ pieces }) => pieces.length > 0);
}

/** The grapheme clusters of the text by their index in it. */
function clustersOf(source: string, { weight, dir }: TextStyle): Map<number, Cluster> {
  const { levels } = bidi.getEmbeddingLevels(source, dir);
  const clusters = new Map<number, Cluster>();
  for (const { segment, index } of graphemes.segment(source)) {
    const level = levels[index] ?? 0;
    // Direction controls are not drawn, but they separate texts of different levels.
    const text = DIRECTION.test(segment) ? '' : segment;
    const font = fontFor(text, weight);
    if (font !== undefined) {
      clusters.set(index, { text, font, level });
      continue;
    }
    // No font has this character, for example an emoji. U+FFFD or a question mark is drawn in its place.
    const stand = fontFor(REPLACEMENT, weight) ?? fontFor('?', weight);
    if (stand === undefined) throw new Error('The fonts have no question mark.');
    clusters.set(index, { text: stand.face.hasGlyphForCodePoint(0xfffd) ? REPLACEMENT : '?', font: stand, level });
  }
  return clusters;
}

/** The parts between which a line may be broken. Each part includes the space after it. */
function* wordsOf(text: string, clusters: ReadonlyMap<number, Cluster>, { isCode }: TextStyle): Generator<Cluster[]> {
  let start = 0;
  for (const end of isCode ? spacesIn(text) : breaksIn(text)) {
    const word: Cluster[] = [];
    for (let index = start; index < end; index += 1) {
      const cluster = clusters.get(index);
      if (cluster !== undefined) word.push(cluster);
    }
    start = end;
    if (word.length > 0) yield word;
  }
}

function* spacesIn(text: string): Generator<number> {
  for (const { index } of text.matchAll(/ /g)) yield index + 1;
  yield text.length;
}

function* breaksIn(text: string): Generator<number> {
  const breaker = new LineBreaker(text);
  for (let next = breaker.nextBreak(); next !== null; next = breaker.nextBreak()) yield next.position;
}

/** The number of clusters that fit into `maxWidth`, found by bisection; at least one. */
function fittingCount(line: readonly Cluster[], style: TextStyle, maxWidth: number): number {
  let fits = 1;
  let tooMany = line.length;
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    if (widthIn(line.slice(0, middle), style) > maxWidth) tooMany = middle;
    else fits = middle;
  }
  return fits;
}

function withoutEdgeSpace(line: readonly Cluster[]): readonly Cluster[] {
  const isSpace = ({ text }: Cluster) => /^\s?$/.test(text);
  const first = line.findIndex((cluster) => !isSpace(cluster));
  const last = line.findLastIndex((cluster) => !isSpace(cluster));
  return first === -1 ? [] : line.slice(first, last + 1);
}

function widthIn(line: readonly Cluster[], style: TextStyle): number {
  return toLine(withoutEdgeSpace(line), style).width;
}

/** Puts the clusters into visual order (UAX 9, rule L2) and joins neighbours of one font. */
function toLine(line: readonly Cluster[], { size }: TextStyle): TextLine {
  const runs = runsOf(line);
  const highest = Math.max(0, ...runs.map(({ level }) => level));
  for (let level = highest; level >= 1; level -= 1) reverseFrom(runs, level);
  const pieces = runs
    .flatMap(({ clusters, font, level }) =>
      level % 2 === 0 ? [leftToRight(clusters, font, size)] : rightToLeft(clusters, font, size),
    )
    .filter(({ text }) => text !== '');
  return { pieces, width: pieces.reduce((sum, { width }) => sum + width, 0) };
}

interface Run {
  readonly level: number;
  readonly font: PaperFont;
  readonly clusters: string[];
}

function runsOf(line: readonly Cluster[]): Run[] {
  const runs: Run[] = [];
  for (const { text, font, level } of line) {
    const last = runs.at(-1);
    if (last !== undefined && last.level === level && last.font === font) last.clusters.push(text);
    else runs.push({ level, font, clusters: [text] });
  }
  return runs;
}

function reverseFrom(runs: Run[], level: number): void {
  for (let start = 0; start < runs.length; start += 1) {
    let end = start;
    while ((runs[end]?.level ?? -1) >= level) end += 1;
    if (end > start) runs.splice(start, end - start, ...runs.slice(start, end).reverse());
    start = end;
  }
}

/**
 * A piece of text that runs left to right. Its width is measured word by word, as the text is drawn: the widths of most words are
 * cached.
 */
function leftToRight(clusters: readonly string[], font: PaperFont, size: number): Piece {
  const text = clusters.join('');
  if (/\d/.test(text)) return { text, font, width: widthOf(font, text, size, 'figures'), shaping: 'figures' };
  const words = text.match(/[^ ]* ?/g) ?? [];
  const width = words.reduce((sum, word) => sum + (word === '' ? 0 : widthOf(font, word, size)), 0);
  return { text, font, width };
}

const RIGHT_TO_LEFT_LETTER = /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/**
 * Matches the lam-alef ligature, which Arabic always requires. It is the only ligature in use: text extracted from a PDF has
 * ligatures reversed.
 */
const LAM_ALEF = /ل\p{M}*[اأإآٱ]/u;

/**
 * The pieces of a text that runs right to left: its words from the last to the first, with mirrored brackets. The shaper reverses
 * letters of right-to-left scripts itself; all other characters are reversed here.
 */
function rightToLeft(clusters: readonly string[], font: PaperFont, size: number): Piece[] {
  const words: string[][] = [[]];
  for (const cluster of clusters) {
    if (cluster === ' ') words.push([cluster], []);
    else words.at(-1)?.push(bidi.getMirroredCharacter(cluster) ?? cluster);
  }
  return words
    .filter((word) => word.length > 0)
    .toReversed()
    .map((word) => {
      const isShaped = word.some((cluster) => RIGHT_TO_LEFT_LETTER.test(cluster));
      const text = (isShaped ? word : word.toReversed()).join('');
      const shaping = LAM_ALEF.test(text) ? 'ligatures' : 'plain';
      return { text, font, width: widthOf(font, text, size, shaping), shaping };
    });
}
