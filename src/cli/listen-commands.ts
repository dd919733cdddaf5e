import type { EventPattern, TillEvent } from '../../sdk/src/api-types.ts';
import { ApiError as GatewayError, type TillError } from '../../sdk/src/errors.ts';
import { createTill, type Till } from '../../sdk/src/till.ts';
import { symbolText } from '../domain/money.ts';
import { isWebhookSecret } from '../domain/webhook-secret.ts';
import { ApiError, CATALOGUE, type ErrorCode, validationError } from '../errors.ts';
import { readSandbox } from '../sandbox/demo.ts';
import { readListenSecret } from '../sandbox/listen-secret.ts';
import { type Command, command } from './command.ts';
import type { Context } from './connect.ts';
import { type Forwarded, forwardEvent, problemOf } from './forward-event.ts';
import { eventPattern, gatewayUrl, receiverUrl, secretText } from './kinds.ts';
import { optional, repeated } from './options.ts';
import { printable } from './table.ts';

const MAX_PATTERNS = 20;
const SECRET_RULE = 'must be whsec_ and base64 of 24 to 64 bytes';

const listen = command({
  name: 'listen',
  summary: 'Follow the events of a gateway over HTTP, and forward them as signed webhooks to a program of yours.',
  options: {
    forward: optional(receiverUrl, 'Send each event there. Default: events are only shown.'),
    events: repeated(eventPattern, MAX_PATTERNS, 'Only events of this type, such as payment.succeeded or "payment.*".'),
    url: optional(gatewayUrl, 'The gateway. Default: the sandbox under TILL_HOME.'),
    'api-key': optional(secretText, 'Its API key. Default: LISTEN_API_KEY with --url, else the key of the sandbox.'),
    secret: optional(secretText, 'Sign with this whsec_… secret. Default: LISTEN_SECRET, or one kept under TILL_HOME.'),
  },
  examples: [
    'listen --forward http://localhost:3000/hook',
    'listen --forward http://localhost:3000/hook --events "payment.*" --url https://till.example --api-key till_test_…',
  ],
  check: ({ secret }) => (secret === undefined || isWebhookSecret(secret) ? [] : [`--secret ${SECRET_RULE}`]),
  run: async (context, { forward, events: types, url, 'api-key': apiKey, secret: ownSecret }) => {
    const { print, untilInterrupted } = context;
    const gateway = await gatewayOf(context, { url, apiKey });
    const secret = ownSecret ?? (await secretOf(context));
    const signal = untilInterrupted();
    const target = forward === undefined ? 'Nothing is forwarded.' : `Events go to ${forward}, signed with ${secret}`;
    const announce = () =>
      print(
        { following: gateway.baseUrl, forward: forward ?? null, secret },
        `Following ${gateway.baseUrl}. ${target}`,
      );
    const counts = { events: 0, refused: 0 };
    for await (const event of followFeed(context, createTill(gateway), { types, signal, announce })) {
      const forwarded = forward && (await forwardEvent(context, event, { url: forward, secret, signal }));
      counts.events += 1;
      if (forwarded && !forwarded.isTaken) counts.refused += 1;
      print({ event, ...(forwarded && { forwarded }) }, lineOf(event, forwarded || undefined));
    }
    return { json: counts, text: `Stopped after ${counts.events} ${counts.events === 1 ? 'event' : 'events'}.` };
  },
});

export const listenCommands: readonly Command[] = [listen];

/** The URL and the API key of the gateway whose events are printed. The sandbox's own key is never sent to another gateway. */
async function gatewayOf(
  { config, environment }: Context,
  { url, apiKey }: { url?: string | undefined; apiKey?: string | undefined },
) {
  if (url !== undefined) {
    const ownKey = apiKey ?? environment.LISTEN_API_KEY;
    if (ownKey !== undefined) return { baseUrl: url, apiKey: ownKey };
    throw new ApiError('missing_api_key', 'Name the API key of that gateway, by --api-key or LISTEN_API_KEY.');
  }
  const sandbox = await readSandbox(config.home);
  if (sandbox === undefined) {
    const advice = 'start one with `npm start`, or name a gateway by --url and --api-key';
    throw new ApiError('invalid_state', `There is no sandbox under ${config.home}: ${advice}.`);
  }
  return { baseUrl: sandbox.baseUrl, apiKey: apiKey ?? sandbox.apiKey };
}

async function secretOf({ config, environment, world }: Context): Promise<string> {
  const { LISTEN_SECRET: secret } = environment;
  if (secret === undefined) return readListenSecret(world, config.home);
  if (!isWebhookSecret(secret)) throw validationError([{ field: 'LISTEN_SECRET', message: SECRET_RULE }]);
  return secret;
}

interface Following {
  readonly types: readonly string[];
  readonly signal: AbortSignal;
  /** Called as soon as the start position in the event feed is known. Every event after that position is delivered. */
  readonly announce: () => void;
}

/** Yields new events until the command is interrupted. */
async function* followFeed(
  { print }: Context,
  till: Till,
  { types, signal, announce }: Following,
): AsyncGenerator<TillEvent> {
  let isAway = false;
  const onInterruption = (error: TillError) => {
    const reason = reasonOf(error);
    if (!isAway) print({ away: reason }, `The gateway is out of reach (${reason}). Trying again until it is back.`);
    isAway = true;
  };
  // Event types are not checked here: the gateway may know newer types than this command.
  const query = { after: 'latest', ...(types.length > 0 && { types: types as readonly EventPattern[] }) };
  let isAnnounced = false;
  try {
    for await (const { events } of till.events.pages(query, { signal, onInterruption })) {
      if (!isAnnounced) announce();
      else if (isAway) print({ back: true }, 'The gateway is back.');
      isAnnounced = true;
      isAway = false;
      yield* events;
    }
  } catch (error) {
    if (signal.aborted) return;
    throw error instanceof GatewayError ? ownError(error) : error;
  }
}

/** The line of an event: `12:00:01  payment.succeeded  pay_…  10.00 USD  ORDER-42  your receiver took it (200) in 12 ms` */
function lineOf({ createdAt, type, data }: TillEvent, forwarded: Forwarded | undefined): string {
  const { id, amount, referenceId } = data as { id?: unknown; amount?: unknown; referenceId?: unknown };
  const answer = forwarded && `${deedOf(forwarded)} in ${forwarded.tookMs} ms`;
  const parts = [String(createdAt).slice(11, 19), type, id, shownAmount(amount), referenceId, answer];
  return printable(parts.filter((part) => typeof part === 'string' && part !== '').join('  '));
}

/** The receiver's answer in words. They begin with "your receiver", so that nobody takes its status for a status of the gateway. */
function deedOf({ status, problem, isTaken, text = '' }: Forwarded): string {
  if (status === null) return `your receiver gave no answer: ${problem}`;
  if (isTaken) return `your receiver took it (${status})`;
  const deed = status >= 300 && status < 400 ? 'redirected, which webhooks do not follow' : 'refused it';
  return `your receiver ${deed} (${status}${text === '' ? '' : `: ${text}`})`;
}

function shownAmount(amount: unknown): string | undefined {
  const { value, display } = (amount ?? {}) as {
    value?: unknown;
    display?: { decimals?: unknown; assetSymbol?: unknown };
  };
  const { decimals, assetSymbol } = display ?? {};
  const isAmount = typeof value === 'string' && /^\d{1,78}$/.test(value) && Number.isInteger(decimals);
  return isAmount ? symbolText({ units: BigInt(value), decimals: decimals as number }, `${assetSymbol}`) : undefined;
}

function reasonOf(error: TillError): string {
  return error instanceof GatewayError ? `${error.status} ${error.code}` : problemOf(error);
}

function ownError({ code, message, issues }: GatewayError): ApiError {
  const ownCode = Object.hasOwn(CATALOGUE, code) ? (code as ErrorCode) : 'internal_error';
  return new ApiError(ownCode, message, { issues });
}
