import { stripTypeScriptTypes } from 'node:module';

/** One small fault in a source: the characters from `at` to `end` are replaced. */
export interface Mutant {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  /** The changed line or lines, without indentation. */
  readonly before: string;
  readonly after: string;
  /** The whole source without types, with the fault in it. */
  readonly code: string;
}

interface Edit {
  readonly rule: string;
  readonly at: number;
  readonly end: number;
  readonly text: string;
}

type Exchange = readonly [rule: string, find: RegExp, to: (match: RegExpMatchArray) => string];

const exchange =
  (pairs: Readonly<Record<string, string>>) =>
  ([text]: RegExpMatchArray): string =>
    pairs[text] ?? text;

/** Rules on the text of code. The formatter writes one space around each operator. */
const EXCHANGES: readonly Exchange[] = [
  [
    'comparison',
    / (===|!==|<=|>=|<|>) /g,
    exchange({
      ...{ ' === ': ' !== ', ' !== ': ' === ', ' < ': ' <= ', ' <= ': ' < ', ' > ': ' >= ', ' >= ': ' > ' },
    }),
  ],
  ['logic', / (&&|\|\||\?\?) /g, exchange({ ' && ': ' || ', ' || ': ' && ', ' ?? ': ' && ' })],
  ['logic', /(?<=[\s([!{])!(?=[^=\s])/g, () => ''],
  ['logic', /\b(true|false)\b/g, exchange({ true: 'false', false: 'true' })],
  ['logic', /(?<=(?<![=<>!])= |[(,:?] |[({[]|return |=> )[\w.]+(?= \? )/g, ([text]) => `!${text}`],
  [
    'arithmetic',
    / ([-+*/%]|\*\*) /g,
    exchange({ ...{ ' + ': ' - ', ' - ': ' + ', ' * ': ' / ', ' / ': ' * ', ' % ': ' * ', ' ** ': ' * ' } }),
  ],
  ['arithmetic', / [-+*/]= /g, exchange({ ' += ': ' -= ', ' -= ': ' += ', ' *= ': ' /= ', ' /= ': ' *= ' })],
  ['arithmetic', /(?<=[\s([])-(?=[A-Za-z(])/g, () => ''],
  [
    'bits',
    / (<<|>>>?|[&|^]) /g,
    exchange({ ' << ': ' >> ', ' >> ': ' << ', ' & ': ' | ', ' | ': ' & ', ' ^ ': ' & ' }),
  ],
  ['number', /(?<![\w.$])\d[\d_]*(\.\d+)?n?(?![\w.])/g, ([text]) => otherNumber(text)],
  ['number', /(?<![\w.$])0x[0-9a-f_]+n?(?!\w)/g, ([text]) => otherNumber(text)],
  [
    'call',
    /\.(some|every|startsWith|endsWith|padStart|padEnd|find|findLast|toUpperCase|toLowerCase)\(/g,
    exchange({
      ...{ '.some(': '.every(', '.every(': '.some(', '.startsWith(': '.endsWith(', '.endsWith(': '.startsWith(' },
      ...{ '.padStart(': '.padEnd(', '.padEnd(': '.padStart(', '.find(': '.findLast(', '.findLast(': '.find(' },
      ...{ '.toUpperCase(': '.toLowerCase(', '.toLowerCase(': '.toUpperCase(' },
    }),
  ],
  ['call', /\bMath\.(min|max)\(/g, exchange({ 'Math.min(': 'Math.max(', 'Math.max(': 'Math.min(' })],
  ['call', /\.(trim|toReversed|toSorted)\(\)/g, () => ''],
  ['call', /(?<=\.filter\([^=\n]*=> )(?=[^{\s])/g, () => 'true || '],
];

/** Statements of one line, without those whose absence is no program or the work of another rule. */
const STATEMENT =
  /^[ \t]+(?!(?:const|let|return|if|for|while|else|case|default|export|import|type)\b)[\w.[\]]+[^\n]*;$/gm;

/** All mutants of a source. Types, comments and the text of strings stay as they are. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const code = stripTypeScriptTypes(source);
  if (code.length !== source.length) throw new Error(`${file} has other places without its types`);
  const { bare, patterns } = bareCode(code);
  const edits = [
    ...EXCHANGES.flatMap(([rule, find, to]) =>
      [...bare.matchAll(find)].map((match) => ({
        ...{ rule, at: match.index, end: match.index + match[0].length, text: to(match) },
      })),
    ),
    ...conditionEdits(code, bare),
    ...[...bare.matchAll(STATEMENT)]
      .filter(([text]) => isBalanced(text))
      .map((match) => ({ rule: 'statement', at: match.index, end: match.index + match[0].length, text: '' })),
    ...entryEdits(code, bare),
    ...patterns.flatMap(({ at, end }) => patternEdits(code, at, end)),
  ];
  const seen = new Set([code]);
  return edits
    .toSorted((a, b) => a.at - b.at)
    .map((edit) => mutantBy(edit, file, source, code))
    .filter((mutant) => !seen.has(mutant.code) && seen.add(mutant.code));
}

function mutantBy({ rule, at, end, text }: Edit, file: string, source: string, code: string): Mutant {
  const from = source.lastIndexOf('\n', at - 1) + 1;
  const to = source.indexOf('\n', end);
  const flat = (lines: string) => lines.replace(/\s+/g, ' ').trim();
  const before = flat(source.slice(from, to));
  return {
    file,
    line: source.slice(0, at).split('\n').length,
    rule,
    before,
    after: flat(source.slice(from, at) + text + source.slice(end, to)) || `(without) ${before}`,
    code: code.slice(0, at) + text + code.slice(end),
  };
}

/** Each condition once as if it were always true, and once as if it were never. */
function conditionEdits(code: string, bare: string): Edit[] {
  return [...bare.matchAll(/\bif \(/g)].flatMap((match) => {
    const at = match.index + match[0].length;
    const end = closingOf(bare, at);
    const condition = code.slice(at, end);
    return ['true || ', 'false && '].map((word) => ({ rule: 'condition', at, end, text: `${word}(${condition})` }));
  });
}

/** Tables without one entry, if its value is a single word, as in a table of transitions. */
function entryEdits(code: string, bare: string): Edit[] {
  return [...bare.matchAll(/(?<=[\s{])\w+: ' +',?/g)]
    .map(({ index, 0: { length } }) => ({ rule: 'entry', at: index, end: index + length, text: '' }))
    .filter(({ at, end }) => /^\w+: '[a-z_]+',?$/.test(code.slice(at, end)));
}

/** Regular expressions without one anchor, or with another bound of a repetition. */
function patternEdits(code: string, from: number, to: number): Edit[] {
  const edit = (at: number, end: number, text: string) => ({ rule: 'pattern', at: from + at, end: from + end, text });
  const pattern = code.slice(from, to);
  return [
    ...[...pattern.matchAll(/(?<=^\/|\()\^|(?<!\\)\$(?=\/|\))/g)].map(({ index }) => edit(index, index + 1, '')),
    ...[...pattern.matchAll(/(?<=\{|,)\d+(?=\}|,)/g)].map(({ index, 0: bound }) =>
      edit(index, index + bound.length, `${Number(bound) + 1}`),
    ),
  ];
}

/** 0 and 1 change places, so that a factor or a step disappears. Other numbers grow by one, fractions to the double. */
function otherNumber(text: string): string {
  const digits = text.replaceAll('_', '').replace(/n$/, '');
  const end = text.endsWith('n') ? 'n' : '';
  if (digits.includes('.')) return `${Number(digits) * 2}`;
  if (digits === '0') return `1${end}`;
  return digits === '1' ? `0${end}` : `${BigInt(digits) + 1n}${end}`;
}

function isBalanced(text: string): boolean {
  const count = (characters: RegExp) => text.match(characters)?.length ?? 0;
  return count(/[([{]/g) === count(/[)\]}]/g);
}

/** The place of the bracket that closes the one before `from`. */
function closingOf(bare: string, from: number): number {
  let depth = 1;
  for (let at = from; at < bare.length; at += 1) {
    if (/[([{]/.test(bare[at] ?? '')) depth += 1;
    if (/[)\]}]/.test(bare[at] ?? '')) depth -= 1;
    if (depth === 0) return at;
  }
  throw new Error('A bracket is not closed');
}

interface BareCode {
  /** The code with blanks for comments, for the text of strings and for regular expressions. */
  readonly bare: string;
  readonly patterns: readonly { readonly at: number; readonly end: number }[];
}

const QUOTED = /'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/y;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const PATTERN = /\/(?![ *=/])(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n[])+\/[a-z]*/y;

function bareCode(code: string): BareCode {
  const characters = code.split('');
  const patterns: { at: number; end: number }[] = [];
  /** The depth of braces in each template that is open. */
  const open: number[] = [];
  const blank = (from: number, to: number) => {
    for (let each = from; each < to; each += 1) if (code[each] !== '\n') characters[each] = ' ';
    return to;
  };
  const endOf = (find: RegExp, at: number) => {
    find.lastIndex = at;
    return find.test(code) ? find.lastIndex : undefined;
  };
  const endOfTemplateText = (from: number) => {
    let at = from;
    while (at < code.length && code[at] !== '`' && !code.startsWith('${', at)) at += code[at] === '\\' ? 2 : 1;
    if (code[at] !== '`') open.push(0);
    return blank(from, code[at] === '`' ? at : at + 2) + (code[at] === '`' ? 1 : 0);
  };
  for (let at = 0; at < code.length; ) {
    const character = code[at];
    const comment = endOf(COMMENT, at);
    const quoted = endOf(QUOTED, at);
    const pattern = endOf(PATTERN, at);
    if (comment !== undefined) at = blank(at, comment);
    else if (quoted !== undefined) at = blank(at + 1, quoted - 1) + 1;
    else if (pattern !== undefined) {
      patterns.push({ at, end: pattern });
      at = blank(at, pattern);
    } else if (character === '`') at = endOfTemplateText(at + 1);
    else if (character === '}' && open.at(-1) === 0) {
      open.pop();
      at = endOfTemplateText(blank(at, at + 1));
    } else {
      const depth = open.pop();
      if (depth !== undefined) open.push(depth + (character === '{' ? 1 : 0) - (character === '}' ? 1 : 0));
      at += 1;
    }
  }
  return { bare: characters.join(''), patterns };
}
