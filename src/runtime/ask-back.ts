import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { PublicUrlAnswer } from '../domain/doctor/facts.ts';
import type { World } from './world.ts';

export interface AskBackInput {
  readonly publicUrl: string;
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}

/** Another program, such as a gateway that runs, listens on the port. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

const TOKEN_BYTES = 24;
const FOLDER = '/.well-known/till-init/';
/** Statuses with which a proxy answers if it does not reach the server behind it. */
const OF_PROXIES = [502, 503, 504];
const MAX_ANSWER_CHARS = 100_000;

/**
 * Listens on the port of the gateway, asks the public URL for a path that nobody else knows, and sees whether the request arrives.
 * The listener answers with a text that nobody else knows, so no other server can pass for this one.
 */
export async function askBack(world: Pick<World, 'random' | 'timers'>, input: AskBackInput): Promise<PublicUrlAnswer> {
  const word = () => Buffer.from(world.random.bytes(TOKEN_BYTES)).toString('hex');
  const [path, answer] = [`${FOLDER}${word()}`, word()];
  let arrived: PublicUrlAnswer | undefined;
  const server = createServer((request, response) => {
    const isAsked = request.url === path;
    // The peer's address is read before the answer, because a socket no longer has it after its end.
    if (isAsked) arrived = arrivalOf(request);
    response.writeHead(isAsked ? 200 : 404, { 'content-type': 'text/plain', connection: 'close' });
    response.end(isAsked ? answer : '');
  });
  server.listen(input.port, input.host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EADDRINUSE') throw new PortTakenError(`Port ${input.port} is in use.`);
    throw error;
  });
  try {
    const said = await askPage(world, { ...input, path, isOurs: (text) => text === answer });
    return said.is === 'here' ? (arrived ?? said) : said;
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

function arrivalOf({ socket, headers }: IncomingMessage): PublicUrlAnswer {
  const peer = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
  return { is: 'here', peer, hasForwardedFor: headers['x-forwarded-for'] !== undefined };
}

/** Asks a running gateway and the public URL for a page whose content differs between gateways, and compares the two answers. */
export async function askRunning(
  world: Pick<World, 'timers'>,
  { path, ...input }: AskBackInput & { readonly path: string },
): Promise<PublicUrlAnswer | 'no_gateway'> {
  const own = new URL(`http://localhost:${input.port}`);
  own.hostname = hostToAsk(input.host);
  const expected = await fetchText(world, own.origin + path, input.timeoutMs);
  if ('reason' in expected || expected.status !== 200) return 'no_gateway';
  return askPage(world, { ...input, path, isOurs: (text) => text === expected.text });
}

/** The host for requests to the listener. An address for all interfaces, such as 0.0.0.0, cannot be the target of a request. */
function hostToAsk(host: string): string {
  if (['0.0.0.0', '::', ''].includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

export interface PageAsk {
  readonly publicUrl: string;
  readonly path: string;
  readonly timeoutMs: number;
  /** True for the text that only this gateway answers with. */
  readonly isOurs: (text: string) => boolean;
}

/** Asks the public URL for a page that shows which gateway answers. Redirects are not followed. */
export async function askPage(
  world: Pick<World, 'timers'>,
  { publicUrl, path, timeoutMs, isOurs }: PageAsk,
): Promise<PublicUrlAnswer> {
  const said = await fetchText(world, publicUrl + path, timeoutMs);
  if ('reason' in said) return { is: 'silent', reason: said.reason };
  if (said.status === 200 && isOurs(said.text)) return { is: 'here', peer: '', hasForwardedFor: false };
  if (OF_PROXIES.includes(said.status)) return { is: 'proxy_alone', status: said.status };
  return { is: 'elsewhere', status: said.status, location: said.location };
}

type Said =
  | { readonly status: number; readonly text: string; readonly location: string | undefined }
  | { readonly reason: string };

async function fetchText({ timers }: Pick<World, 'timers'>, url: string, timeoutMs: number): Promise<Said> {
  const late = new AbortController();
  const cancel = timers.after(timeoutMs, () => late.abort());
  try {
    const response = await fetch(url, { redirect: 'manual', signal: late.signal });
    const location = response.headers.get('location');
    const text = await textOf(response);
    return { status: response.status, text, location: location === null ? undefined : originOf(location, url) };
  } catch (error) {
    if (late.signal.aborted) return { reason: `no answer within ${timeoutMs / 1_000} s` };
    const { code, message } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    return { reason: code ?? message };
  } finally {
    cancel();
  }
}

/** The beginning of the body. Answers of a gateway are short, so a longer body is from another server. */
async function textOf(response: Response): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MAX_ANSWER_CHARS) break;
  }
  return text;
}

function originOf(location: string, base: string): string | undefined {
  return URL.canParse(location, base) ? new URL(location, base).origin : undefined;
}
