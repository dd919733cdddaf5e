/**
 * The service worker of the point of sale: the page opens without a connection. It keeps the document, scripts, sheets,
 * icons and the logo, and never an answer of the API.
 */
interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface FetchEvent extends WorkerEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

interface WorkerScope {
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: WorkerEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void;
}

const worker = globalThis as unknown as WorkerScope;
const CACHE = 'till-pos';
const PAGE = '/pos';
/** A connection that is this slow is taken for none. */
const PATIENCE_MS = 4_000;
/** A build has fewer files. Files of older builds go first. */
const MAX_FILES = 60;

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { pathname, origin } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate' && pathname === PAGE) event.respondWith(freshOrKept(request));
  else if (/^\/(assets|icons|brand|logos)\//.test(pathname)) event.respondWith(keptOrFresh(request));
});

/** The document of the gateway, or the kept one without a connection. */
async function freshOrKept(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (response.ok) await cache.put(PAGE, response.clone());
    return response;
  } catch (error) {
    const kept = await cache.match(PAGE);
    if (kept === undefined) throw error;
    return kept;
  }
}

/** The name of a file changes with its content, so a kept one is right. */
async function keptOrFresh(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request);
  if (kept !== undefined) return kept;
  const response = await fetch(request);
  if (response.ok) {
    await cache.put(request, response.clone());
    const files = (await cache.keys()).filter(({ url }) => new URL(url).pathname !== PAGE);
    await Promise.all(files.slice(0, Math.max(0, files.length - MAX_FILES)).map((file) => cache.delete(file)));
  }
  return response;
}
