import type { IncomingHttpHeaders } from 'node:http';

/** Paths whose answers are always JSON. */
const API_PREFIX = '/v1/';

/** True if a browser opens the URL: browsers send `text/html` in Accept, programs do not. */
export function wantsPage({
  method,
  url,
  headers,
}: {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || url.startsWith(API_PREFIX)) return false;
  const preference = (type: string) => preferenceFor(headers.accept ?? '', type);
  return preference('text/html') > 0 && preference('text/html') >= preference('application/json');
}

/** The weight from 0 to 1 that an Accept header gives to exactly this type. 0 if the header does not name it. */
function preferenceFor(accept: string, type: string): number {
  for (const part of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim());
    if (name !== type) continue;
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return weight === undefined ? 1 : Number(weight.slice(2)) || 0;
  }
  return 0;
}
