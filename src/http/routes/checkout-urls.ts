import type { Mode } from '../../domain/mode.ts';
import type { Issue } from '../../errors.ts';

const LOCAL_HOSTS = new Set(['localhost', '127.0.0.1', '[::1]']);

interface CheckoutCheck {
  readonly mode: Mode;
  /** True if the schema found no problem in the field. */
  readonly hasForm: (field: string) => boolean;
  readonly issues: Issue[];
}

/** The return URLs of the checkout. A payment has both or none. */
export function parseCheckoutUrls(
  checkout: { readonly successUrl: string; readonly errorUrl: string } | null,
  { mode, hasForm, issues }: CheckoutCheck,
): { successUrl: string | null; errorUrl: string | null } {
  if (checkout === null) return { successUrl: null, errorUrl: null };
  for (const name of ['successUrl', 'errorUrl'] as const) {
    if (!hasForm(`checkout.${name}`) || isAllowed(checkout[name], mode)) continue;
    const rule = mode === 'test' ? 'must be an HTTPS URL (or http on localhost)' : 'must be an HTTPS URL';
    issues.push({ field: `checkout.${name}`, message: rule });
  }
  return { successUrl: checkout.successUrl, errorUrl: checkout.errorUrl };
}

function isAllowed(text: string, mode: Mode): boolean {
  // Refuses white space and control characters, because URL parsers, also those of browsers, ignore them around and inside a URL.
  if (/[\s\p{Cc}\p{Cs}]/u.test(text)) return false;
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || (mode === 'test' && url.protocol === 'http:' && LOCAL_HOSTS.has(url.hostname));
}
