import { type Parsed, parseAccount, parseAsset, parseChainId } from '../../domain/caip.ts';
import { parseTimestamp } from '../../domain/timestamp.ts';

/**
 * Checks of text that a pattern cannot express. A schema names one in `x-form`, so that one answer lists all broken fields, for
 * a wrong length, pattern or checksum alike. A check returns the problem or undefined. It may read the neighbouring fields.
 */
const FORMS: Readonly<Record<string, (text: string, beside: Beside) => string | undefined>> = {
  'https-url': (text) => (isHttpsUrl(text) ? undefined : 'must be an HTTPS URL'),
  'caip19-asset': (text) => problemOf(parseAsset(text)),
  'caip10-account': (text) => problemOf(parseAccount(text)),
  'caip2-chain': (text) => problemOf(parseChainId(text)),
  timestamp: (text) => problemOf(parseTimestamp(text)),
  'end-of-range': (text, { startTs, start_ts }) => endProblem(text, startTs ?? start_ts),
};

type Beside = Readonly<Record<string, unknown>>;

export const FORM_KEYWORD = {
  keyword: 'x-form',
  type: 'string',
  schemaType: 'string',
  errors: true,
  validate,
} as const;

function validate(form: string, text: string, _schema?: unknown, place?: { readonly parentData: Beside }): boolean {
  const check = FORMS[form];
  if (check === undefined) throw new Error(`No schema may ask for the form ${form}: there is none.`);
  const message = check(text, place?.parentData ?? {});
  // Ajv reads the errors of a keyword from this property.
  validate.errors = message === undefined ? [] : [{ keyword: 'x-form', message, params: {} }];
  return message === undefined;
}
validate.errors = [] as { keyword: string; message: string; params: Record<string, never> }[];

/** Credentials in a URL are refused, because others will see the URL. */
function isHttpsUrl(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
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
