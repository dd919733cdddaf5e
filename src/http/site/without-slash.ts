import type { App } from '../deps.ts';

/** The page for a path with a trailing slash, such as `/docs/`; undefined if there is none. */
export function withoutSlash(app: App, url: string): string | undefined {
  const [path = '', query] = url.split(/\?(.*)/s);
  const trimmed = path.replace(/\/+$/, '');
  if (trimmed === path || trimmed === '' || !app.hasRoute({ method: 'GET', url: trimmed })) return undefined;
  return query === undefined ? trimmed : `${trimmed}?${query}`;
}
