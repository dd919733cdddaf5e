import { parseEnv } from 'node:util';
import type { Setting } from './setting.ts';

/** The explanation of a setting, as comments of an environment file. */
export function commentsOf({ doc, default: fallback, defaultDoc }: Setting<unknown>): string {
  return `# ${doc}\n# Default: ${(defaultDoc ?? plainDefault(fallback)).replaceAll('`', '')}.\n`;
}

/** The default as it is written after `=`. Empty if there is no default, or if it is a list. */
export function plainDefault(fallback: unknown): string {
  return fallback === undefined || Array.isArray(fallback) ? '' : String(fallback);
}

export type EnvValues = Readonly<Record<string, string | undefined>>;

/** The values of an environment file, as Node reads them. */
export function readEnvText(text: string): EnvValues {
  return parseEnv(text);
}

/** The settings that the file names in a comment without a value: somebody chose to leave them unset. */
export function unsetIn(text: string): readonly string[] {
  return [...text.matchAll(/^#([A-Z][A-Z0-9_]*)=$/gm)].map(([, name = '']) => name);
}

/** A change of an environment file. Without a value, the line becomes a comment. */
export interface EnvChange {
  readonly setting: Setting<unknown>;
  readonly value: string | undefined;
}

export type ChangedText = { readonly text: string } | { readonly problem: string };

/**
 * The text with the lines of these settings changed, and every other line as it was: comments and variables of other programs stay.
 * A setting without a line is added at the end, with its explanation. The result is read again, and refused if it does not have
 * exactly the wanted values: a value over several lines, for example, is not understood here.
 */
export function changeEnvText(text: string, changes: readonly EnvChange[]): ChangedText {
  const unwritable = changes.find(({ value }) => value !== undefined && quoted(value) === undefined);
  if (unwritable !== undefined) {
    return { problem: `the value of ${unwritable.setting.env} has line breaks or both kinds of quotes` };
  }
  const changed = changes.reduce(withChange, text);
  const wanted: Record<string, string | undefined> = { ...readEnvText(text) };
  for (const { setting, value } of changes) {
    if (value === undefined) delete wanted[setting.env];
    else wanted[setting.env] = value;
  }
  const found = readEnvText(changed);
  const wrong = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].find(
    (name) => wanted[name] !== found[name],
  );
  return wrong === undefined
    ? { text: changed }
    : { problem: `its line of ${wrong} has a form that is not understood` };
}

function withChange(text: string, { setting, value }: EnvChange): string {
  const lines = text.split('\n');
  const own = new RegExp(`^\\s*(?:export\\s+)?${setting.env}\\s*=`);
  const places = lines.flatMap((line, index) => (own.test(line) ? [index] : []));
  const line = value === undefined ? `#${setting.env}=` : `${setting.env}=${quoted(value)}`;
  // If several lines set the variable, the last one has effect, so that line is changed.
  const place = places.at(-1) ?? (value === undefined ? undefined : lines.findLastIndex(isUnset(setting.env)));
  if (value === undefined) {
    return lines.map((each, index) => (places.includes(index) ? line : each)).join('\n');
  }
  if (place !== undefined && place >= 0) return lines.with(place, line).join('\n');
  const end = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return `${end}${end === '' ? '' : '\n'}${commentsOf(setting)}${line}\n`;
}

function isUnset(env: string): (line: string) => boolean {
  return (line) => line.startsWith(`#${env}=`);
}

/**
 * The value as a line of the file holds it, for Node.js, systemd and Docker Compose alike: without quotes where possible, else in
 * single quotes, in which no character has a special meaning. Undefined if no form fits.
 */
function quoted(value: string): string | undefined {
  if (/[\r\n]/.test(value)) return undefined;
  if (!/[#'"`\\]|^\s|\s$/.test(value)) return value;
  if (!value.includes("'")) return `'${value}'`;
  return /["`\\$]/.test(value) ? undefined : `"${value}"`;
}

/** The text of a new file: the head, then a block for each of these settings, in this order. */
export function newEnvText(head: string, values: readonly EnvChange[]): ChangedText {
  const blocks = values.map(({ setting }) => `${commentsOf(setting)}#${setting.env}=\n`);
  return changeEnvText(
    `${head}\n\n${blocks.join('\n')}`,
    values.filter(({ value }) => value !== undefined),
  );
}
