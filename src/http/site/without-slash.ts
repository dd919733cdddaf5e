import type { App } from '../deps.ts';

/** The page that an address with a slash too many means, such as `/docs/`; undefined where there is none. */
export function withoutSlash(app: App, url: string): string | undefined {
  const [path = '', query] = url.split(/\?(.*)/s);
  const trimmed = path.replace(/\/+$/, '');
  if (trimmed === path || trimmed === '' || !app.hasRoute({ method: 'GET', url: trimmed })) return undefined;
  return query === undefined ? trimmed : `${trimmed}?${query}`;
}
