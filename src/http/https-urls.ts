import { validationError } from '../errors.ts';

/** The schema lets through what looks like an HTTPS URL; here each is parsed, and all bad ones are named at once. */
export function requireHttpsUrls(urls: Readonly<Record<string, string | null | undefined>>): void {
  const issues = Object.entries(urls).flatMap(([field, value]) =>
    typeof value === 'string' && !isHttpsUrl(value) ? [{ field, message: 'must be an HTTPS URL' }] : [],
  );
  if (issues.length > 0) throw validationError(issues);
}

/** Credentials in a URL that others will see are a mistake. */
function isHttpsUrl(text: string): boolean {
  const url = URL.parse(text);
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
}
