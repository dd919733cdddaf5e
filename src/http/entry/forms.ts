import { parseAcceptedId } from '../../chains/accepted-entry.ts';
import { parseAccount, parseAsset, parseChainId } from '../../domain/caip.ts';
import type { Parsed } from '../../domain/parsed.ts';
import { parseTimestamp } from '../../domain/timestamp.ts';

/**
 * Checks of text that a pattern cannot express, such as a checksum. A schema names a check in `x-form`. So one answer lists all
 * invalid fields, whether a length, a pattern or a checksum is wrong. A check returns the problem or undefined. It may read the
 * other fields of the same object (`beside`). `rule` is the `x-rule` of the schema.
 */
const FORMS: Readonly<Record<string, (text: string, beside: Beside, rule: string) => string | undefined>> = {
  text: (text, _, rule) => (text.isWellFormed() ? undefined : rule),
  'text-not-blank': (text, _, rule) => (text.isWellFormed() && /\S/.test(text) ? undefined : rule),
  'text-trimmed': (text, _, rule) => (text.isWellFormed() && text.trim() === text ? undefined : rule),
  'https-url': (text) => (isHttpsUrl(text) ? undefined : 'must be an HTTPS URL'),
  'caip19-asset': (text) => problemOf(parseAsset(text)),
  'caip10-account': (text) => problemOf(parseAccount(text)),
  'accepted-asset': (text) => problemOf(parseAcceptedId(text)),
  'caip2-chain': (text) => problemOf(parseChainId(text)),
  timestamp: (text) => problemOf(parseTimestamp(text)),
  'end-of-range': (text, { startTs, start_ts }) => endProblem(text, startTs ?? start_ts),
};

type Beside = Readonly<Record<string, unknown>>;
type Schema = Readonly<Record<string, string | undefined>>;

export const FORM_KEYWORD = {
  keyword: 'x-form',
  type: 'string',
  schemaType: 'string',
  errors: true,
  validate,
} as const;

function validate(form: string, text: string, schema?: Schema, place?: { readonly parentData: Beside }): boolean {
  const check = FORMS[form];
  if (check === undefined) throw new Error(`No schema may ask for the form ${form}: there is none.`);
  const message = check(text, place?.parentData ?? {}, schema?.['x-rule'] ?? '');
  // Ajv reads the errors from this property.
  validate.errors = message === undefined ? [] : [{ keyword: 'x-form', message, params: {} }];
  return message === undefined;
}
validate.errors = [] as { keyword: string; message: string; params: Record<string, never> }[];

/** True for an HTTPS URL without credentials. Credentials in a URL are refused, because others will see the URL. */
function isHttpsUrl(text: string): boolean {
  const url = URL.parse(text);
  return text.isWellFormed() && url?.protocol === 'https:' && url.username === '' && url.password === '';
}

function endProblem(text: string, start: unknown): string | undefined {
  const end = parseTimestamp(text);
  const begin = typeof start === 'string' ? parseTimestamp(start) : undefined;
  if (!end.ok) return end.problem;
  return begin?.ok && begin.value > end.value ? 'must not be before the start of the range' : undefined;
}

function problemOf(parsed: Parsed<unknown>): string | undefined {
  return parsed.ok ? undefined : parsed.problem;
}
