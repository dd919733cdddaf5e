/**
 * This file is the service worker of the point of sale, which lets the page open without a connection. It stores the document,
 * scripts, stylesheets, icons and the logo, but never an answer of the API.
 */
interface WorkerEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface FetchEvent extends WorkerEvent {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}

/** A message from the page, with the URLs of the files that it loaded before the worker started. */
interface FilesEvent extends WorkerEvent {
  readonly data: unknown;
}

interface WorkerScope {
  readonly clients: { claim(): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: 'install' | 'activate', listener: (event: WorkerEvent) => void): void;
  addEventListener(type: 'fetch', listener: (event: FetchEvent) => void): void;
  addEventListener(type: 'message', listener: (event: FilesEvent) => void): void;
}

const worker = globalThis as unknown as WorkerScope;
const CACHE = 'till-pos';
const PAGE = '/pos';
/** The timeout of a request for the document. After it, the stored document is shown. */
const PATIENCE_MS = 4_000;
/** The largest number of stored files, more than one build has. The oldest files are deleted first. */
const MAX_FILES = 60;

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener('message', (event) => event.waitUntil(keepLoaded(event.data)));
worker.addEventListener('fetch', (event) => {
  const { request } = event;
  const { pathname, origin } = new URL(request.url);
  if (request.method !== 'GET' || origin !== location.origin) return;
  if (request.mode === 'navigate' && pathname === PAGE) event.respondWith(freshOrKept(request));
  else if (isFile(pathname)) event.respondWith(keptOrFresh(request));
});

function isFile(pathname: string): boolean {
  return /^\/(assets|icons|brand|logos)\//.test(pathname);
}

/** Stores the files that the page loaded before the worker started, as at the first visit. The files come from the HTTP cache. */
async function keepLoaded(urls: unknown): Promise<void> {
  const files = (Array.isArray(urls) ? urls : [])
    .map((url) => new URL(String(url), location.href))
    .filter(({ origin, pathname }) => origin === location.origin && isFile(pathname));
  await Promise.all(files.slice(0, MAX_FILES).map(({ href }) => keptOrFresh(new Request(href))));
  await freshOrKept(new Request(PAGE));
}

/** The document from the gateway, or the stored one if there is no connection. */
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

/**
 * A file from the store, or from the gateway if it is not stored. Its name changes with its content, so a stored file is never
 * outdated.
 */
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
