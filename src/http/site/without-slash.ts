import type { App } from '../deps.ts';

/**
 * The URL without its trailing slash, such as `/docs` for `/docs/`. Undefined if the URL has no trailing slash, or if there is no
 * page at the shorter URL.
 */
export function withoutSlash(app: App, url: string): string | undefined {
  const [path = '', query] = url.split(/\?(.*)/s);
  const trimmed = path.replace(/\/+$/, '');
  if (trimmed === path || trimmed === '' || !app.hasRoute({ method: 'GET', url: trimmed })) return undefined;
  return query === undefined ? trimmed : `${trimmed}?${query}`;
}
