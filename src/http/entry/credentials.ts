import { MODES, type Mode } from '../../domain/mode.ts';
import { ApiError } from '../../errors.ts';
import { headerOf, headersOf, type WithHeaders } from './headers.ts';
import { cookieIn } from './session-cookie.ts';

/** The credentials that a route accepts. */
export type Scheme =
  /** An Api-Key, or the session of a person. */
  | 'partner'
  /** An Api-Key, or an App-Id with a Client-Id. Cookies are ignored, because pages of all origins may call the gateway routes. */
  | 'gateway'
  /** An Api-Key or X-Api-Key. */
  | 'legacy'
  /** The session of a person. */
  | 'person'
  /** No credentials. For our pages that sign somebody in. */
  | 'visitor';

export type Credentials =
  | { readonly via: 'key'; readonly key: string }
  | { readonly via: 'app'; readonly appId: string }
  | { readonly via: 'session'; readonly token: string; readonly mode: Mode };

/** Reads the credentials that the scheme accepts. Throws an error of the catalogue if the request has no usable ones. */
export function credentialsIn(request: WithHeaders, scheme: Exclude<Scheme, 'visitor'>, origin: string): Credentials {
  refuseConflicts(request);
  switch (scheme) {
    case 'gateway':
      return gatewayCredentials(request);
    case 'legacy':
      return legacyCredentials(request);
    case 'partner':
      return partnerCredentials(request, origin);
    case 'person':
      return sessionCredentials(request, origin) ?? refuseStranger();
  }
}

/** Refuses a request with two identities, on every route: the gateway must not choose one of them silently. */
function refuseConflicts(request: WithHeaders): void {
  const [keys, others] = [headersOf(request, 'api-key'), headersOf(request, 'x-api-key')];
  if (new Set([...keys, ...others]).size > 1) {
    throw new ApiError('conflicting_auth_headers', 'Send one key: Api-Key and X-Api-Key differ.');
  }
  if (keys.length > 0 && headersOf(request, 'app-id').length > 0) {
    throw new ApiError('conflicting_auth_headers', 'Send either Api-Key or App-Id with Client-Id, not both.');
  }
}

/**
 * The mode that a person's request names. The check protects against cross-site requests: a page of another site can make a browser
 * send our cookie. It cannot send the header Session-Mode without a preflight, which no route allows, and it cannot forge
 * Sec-Fetch-Site.
 */
export function sessionModeIn(request: WithHeaders): Mode {
  const mode = headerOf(request, 'session-mode');
  const isOwnPage = request.headers['sec-fetch-site'] === 'same-origin';
  if (!isOwnPage || mode === undefined) {
    const message = 'A request of a person must come from a page of this origin, with the header Session-Mode.';
    throw new ApiError('forbidden', message);
  }
  const known = MODES.find((each) => each === mode);
  if (known === undefined) throw new ApiError('forbidden', `Header Session-Mode must be one of ${MODES.join(', ')}.`);
  return known;
}

function sessionCredentials(request: WithHeaders, origin: string): Credentials | undefined {
  const token = cookieIn(request, origin);
  return token === undefined ? undefined : { via: 'session', token, mode: sessionModeIn(request) };
}

function refuseStranger(): never {
  throw new ApiError('unauthorized', 'Sign in first.');
}

/** The key of a request to the deprecated list of payments. Old clients send it in X-Api-Key. */
function legacyCredentials(request: WithHeaders): Credentials {
  const key = headerOf(request, 'x-api-key') ?? headerOf(request, 'api-key');
  if (key === undefined) throw new ApiError('missing_merchant_api_key', 'Header X-Api-Key is missing.');
  return { via: 'key', key };
}

function partnerCredentials(request: WithHeaders, origin: string): Credentials {
  const key = headerOf(request, 'api-key');
  if (key !== undefined) return { via: 'key', key };
  const session = sessionCredentials(request, origin);
  if (session === undefined) throw new ApiError('missing_api_key', 'Header Api-Key is missing.');
  return session;
}

function gatewayCredentials(request: WithHeaders): Credentials {
  const key = headerOf(request, 'api-key');
  const appId = headerOf(request, 'app-id');
  const clientId = headerOf(request, 'client-id');
  if (key !== undefined) return { via: 'key', key };
  if (appId !== undefined && clientId !== undefined) return { via: 'app', appId };
  if (appId !== undefined) throw new ApiError('missing_client_id', 'Header App-Id needs Client-Id beside it.');
  if (clientId !== undefined) throw new ApiError('missing_app_id', 'Header Client-Id needs App-Id beside it.');
  throw new ApiError('missing_auth_headers', 'Send Api-Key, or App-Id with Client-Id.');
}
