import PDFDocument from 'pdfkit';
import type { Row, Section, Sheet } from '../../web/src/receipts/page-state.ts';
import { featuresOf, type Weight } from './fonts.ts';
import { printableLogo } from './logo.ts';
import { MAX_HEIGHT, PAPERS, type Paper } from './papers.ts';
import type { PrintJob } from './press.ts';
import { linesOf, type TextLine } from './text-lines.ts';

type Document = InstanceType<typeof PDFDocument>;

/** A part of the page that is never split between pages. */
interface Block {
  readonly height: number;
  readonly isKeptWithNext?: boolean;
  draw(doc: Document, top: number): void;
}

interface Setting {
  readonly paper: Paper;
  /** The width between the margins. */
  readonly width: number;
  readonly dir: 'ltr' | 'rtl';
}

interface TextBlock {
  readonly text: string;
  readonly size: number;
  readonly weight?: Weight;
  readonly color?: string;
  /** True for hashes and commands, which are written left to right in every language. */
  readonly isCode?: boolean;
  readonly href?: string | null | undefined;
}

const LINE_HEIGHT = 1.35;
/** The height of a line above its baseline, as a share of the font size. */
const ASCENT = 0.98;
const INK = '#111111';
const SOFT = '#555555';
const RULE = '#bbbbbb';
const LOGO_SIZE = 36;
const COLUMN_GAP = 12;

export async function drawSheet({ sheet, size, logo, paidAt }: PrintJob): Promise<Uint8Array> {
  const paper = PAPERS[size];
  const setting = { paper, width: paper.width - 2 * paper.margin, dir: sheet.dir };
  const blocks = blocksOf(sheet, setting, printableLogo(logo));
  const pages = intoPages(blocks, paper);
  const doc = new PDFDocument({
    autoFirstPage: false,
    margin: 0,
    lang: sheet.locale,
    displayTitle: true,
    info: { Title: plain(`${sheet.title} · ${sheet.shop}`), Creator: 'Till', CreationDate: new Date(paidAt) },
  });
  const chunks: Buffer[] = [];
  doc.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise<void>((resolve, reject) => doc.on('end', resolve).on('error', reject));
  for (const [index, page] of pages.entries()) {
    doc.addPage({ size: [paper.width, page.height], margin: 0 });
    let top = paper.margin;
    for (const block of page.blocks) {
      block.draw(doc, top);
      top += block.height;
    }
    if (pages.length > 1) drawPageNumber(doc, sheet, setting, { page: index + 1, pages: pages.length });
  }
  doc.end();
  await ended;
  return Buffer.concat(chunks);
}

interface Page {
  readonly blocks: Block[];
  readonly height: number;
}

function intoPages(blocks: readonly Block[], { height, margin }: Paper): Page[] {
  const room = (height ?? MAX_HEIGHT) - 2 * margin;
  const pages: Block[][] = [[]];
  let used = 0;
  for (const [index, block] of blocks.entries()) {
    const following = block.isKeptWithNext ? (blocks[index + 1]?.height ?? 0) : 0;
    if (used + block.height + following > room && used > 0) {
      pages.push([]);
      used = 0;
    }
    pages.at(-1)?.push(block);
    used += block.height;
  }
  return pages.map((page) => {
    const content = page.reduce((sum, each) => sum + each.height, 0);
    return { blocks: page, height: height ?? Math.ceil(content + 2 * margin) };
  });
}

function blocksOf(sheet: Sheet, setting: Setting, logo: Buffer | undefined): Block[] {
  const { textSize } = setting.paper;
  return [
    ...(logo === undefined ? [] : [logoBlock(logo, setting)]),
    ...textBlocks(setting, { text: sheet.shop, size: textSize * 1.3, weight: 'bold' }),
    gap(textSize * 0.6),
    ...textBlocks(setting, { text: sheet.title, size: textSize, color: SOFT }),
    ...textBlocks(setting, { text: sheet.total, size: textSize * 2.2, weight: 'bold' }),
    ...(sheet.warning === null
      ? []
      : [gap(textSize * 0.4), ...textBlocks(setting, { text: sheet.warning, size: textSize, weight: 'bold' })]),
    ...sheet.sections.flatMap((section) => sectionBlocks(section, setting)),
  ];
}

function sectionBlocks({ title, text, rows, ...section }: Section, setting: Setting): Block[] {
  const { textSize, height } = setting.paper;
  // Nobody types commands from an 80 mm receipt. The printed URL leads to the receipt page, which has the commands.
  const commands = height === undefined ? undefined : section.commands;
  const small = textSize * 0.85;
  return [
    gap(textSize * 1.4),
    ...(title === null
      ? []
      : textBlocks(setting, { text: title, size: textSize, weight: 'bold' }).map((block) => ({
          ...block,
          isKeptWithNext: true,
        }))),
    ...(text === undefined ? [] : textBlocks(setting, { text, size: small, color: SOFT })),
    ...(commands ?? []).flatMap((command) => [
      gap(small * 0.5),
      ...textBlocks(setting, { text: command, size: small, isCode: true }),
    ]),
    ...(commands === undefined ? [] : [gap(small)]),
    ...rows.map((row) => rowBlock(row, setting)),
  ];
}

function gap(height: number): Block {
  return { height, draw: () => {} };
}

function logoBlock(file: Buffer, { paper, width, dir }: Setting): Block {
  return {
    height: LOGO_SIZE + paper.textSize,
    draw(doc, top) {
      const left = dir === 'ltr' ? paper.margin : paper.margin + width - LOGO_SIZE;
      try {
        doc.image(file, left, top, { fit: [LOGO_SIZE, LOGO_SIZE] });
      } catch {
        // If PDFKit cannot draw the picture, its area stays empty.
      }
    },
  };
}

/** The blocks of a text. Each line is a block, so that a long text can be split between pages. */
function textBlocks(setting: Setting, text: TextBlock): Block[] {
  return lines(text, setting, setting.width).map((line) => ({
    height: text.size * LINE_HEIGHT,
    draw: (doc, top) => drawLine(doc, line, text, { top, ...setting, side: text.isCode ? 'left' : 'start' }),
  }));
}

/** A row with a label and a value. They are on one line if both fit, otherwise below each other. */
function rowBlock({ label, value, isCode = false, isTotal = false, href }: Row, setting: Setting): Block {
  const { textSize } = setting.paper;
  const weight = isTotal ? ('bold' as const) : ('regular' as const);
  const name = { text: label, size: textSize, weight, color: isTotal ? INK : SOFT };
  const content = { text: value, size: isCode ? textSize * 0.85 : textSize, weight, isCode, href };
  const nameLines = lines(name, setting, setting.width);
  const valueLines = lines(content, setting, setting.width);
  const widest = (of: readonly TextLine[]) => Math.max(0, ...of.map(({ width }) => width));
  const isShort = nameLines.length <= 1 && valueLines.length <= 1;
  const isOneLine = isShort && widest(nameLines) + widest(valueLines) + COLUMN_GAP <= setting.width;
  const pad = textSize * 0.35;
  const step = textSize * LINE_HEIGHT;
  // Texts of different sizes are aligned at their baselines.
  const lower = (textSize - content.size) * ASCENT;
  const count = isOneLine ? 1 : nameLines.length + valueLines.length;
  return {
    height: count * step + 2 * pad,
    draw(doc, top) {
      const { margin } = setting.paper;
      doc
        .moveTo(margin, top)
        .lineTo(margin + setting.width, top)
        .lineWidth(0.5)
        .stroke(RULE);
      let at = top + pad;
      for (const line of nameLines) {
        drawLine(doc, line, name, { top: at, ...setting, side: 'start' });
        at += step;
      }
      if (isOneLine) at = top + pad;
      for (const line of valueLines) {
        drawLine(doc, line, content, { top: at + lower, ...setting, side: isCode && !isOneLine ? 'left' : 'end' });
        at += step;
      }
    },
  };
}

function lines({ text, size, weight = 'regular', isCode = false }: TextBlock, { dir }: Setting, width: number) {
  return linesOf(text, { size, weight, isCode, dir: isCode ? 'ltr' : dir }, width);
}

interface Position extends Setting {
  readonly top: number;
  readonly side: 'start' | 'end' | 'left' | 'center';
}

function drawLine(doc: Document, line: TextLine, { size, color = INK, href }: TextBlock, position: Position): void {
  const { paper, width, dir, top, side } = position;
  const isLeft = side === 'left' || (side === 'start') === (dir === 'ltr');
  const free = width - line.width;
  let left = paper.margin + (side === 'center' ? free / 2 : isLeft ? 0 : free);
  if (href != null) doc.link(left, top, line.width, size * LINE_HEIGHT, href);
  doc.fillColor(color);
  for (const { text, font, width: wide, shaping } of line.pieces) {
    // With `features` given, PDFKit shapes the text as a whole instead of word by word.
    const features = shaping === undefined ? {} : { features: featuresOf(shaping) };
    doc
      .registerFont(font.name, font.bytes)
      .font(font.name, size)
      .text(text, left, top + size * ASCENT, { lineBreak: false, baseline: 'alphabetic', ...features });
    left += wide;
  }
}

function drawPageNumber(
  doc: Document,
  { pageNumber }: Sheet,
  setting: Setting,
  { page, pages }: { readonly page: number; readonly pages: number },
): void {
  const { paper } = setting;
  const text = pageNumber.replace('{page}', String(page)).replace('{pages}', String(pages));
  const size = paper.textSize * 0.85;
  const content = { text, size, color: SOFT };
  const top = (paper.height ?? MAX_HEIGHT) - paper.margin / 2 - size;
  for (const line of lines(content, setting, setting.width)) {
    drawLine(doc, line, content, { top, ...setting, side: 'center' });
  }
}

/** Removes direction controls from a title: PDF viewers would show them in the title of their window. */
function plain(text: string): string {
  return text.replace(/[\u2066-\u2069]/g, '');
}
