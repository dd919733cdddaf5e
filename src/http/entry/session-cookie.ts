import type { FastifyReply } from 'fastify';
import type { NewSession } from '../../actions/people/sign-in.ts';
import type { WithHeaders } from './headers.ts';

/**
 * The name of the session cookie. Over HTTPS it has the prefix `__Host-`: a browser then accepts the cookie only for this host and
 * all paths, so no neighbouring host can set it. Browsers refuse the prefix over plain HTTP, which is used only on localhost.
 */
const NAME = 'till_session';

const TOKEN = /^[\w-]{43}$/;

function cookieName(origin: string): string {
  return isSecure(origin) ? `__Host-${NAME}` : NAME;
}

export function cookieIn({ headers }: WithHeaders, origin: string): string | undefined {
  const start = `${cookieName(origin)}=`;
  const found = headers.cookie
    ?.split(';')
    .map((part) => part.trim())
    .find((part) => part.startsWith(start));
  const token = found?.slice(start.length);
  return token !== undefined && TOKEN.test(token) ? token : undefined;
}

/**
 * Sets the cookie with a lifetime in seconds, not with an end date. Browsers compare an end date with the `Date` of the answer,
 * which is the clock of the sandbox: if that clock is ahead, the cookie would have ended already.
 */
export function setCookie(reply: FastifyReply, origin: string, { token, expiresAt }: NewSession, nowMs: number): void {
  const lifeS = Math.max(0, Math.ceil((expiresAt.getTime() - nowMs) / 1000));
  reply.header('Set-Cookie', `${cookieName(origin)}=${token}; Max-Age=${lifeS}; ${attributes(origin)}`);
}

export function clearCookie(reply: FastifyReply, origin: string): void {
  reply.header('Set-Cookie', `${cookieName(origin)}=; Max-Age=0; ${attributes(origin)}`);
}

function attributes(origin: string): string {
  return `Path=/; HttpOnly; SameSite=Strict${isSecure(origin) ? '; Secure' : ''}`;
}

function isSecure(origin: string): boolean {
  return origin.startsWith('https:');
}
