import { WAITING_STATES, type WaitingState } from '../src/domain/waiting-states.ts';
import { type ApiDocument, guardedRoutes } from './authorisation-page.ts';

/** An act that needs no key, or only the App-Id, which is public. */
interface Act {
  /** Everything that it changes. */
  readonly changes: string;
  /** The bound if somebody does it a thousand times. */
  readonly bound: string;
  /** The file of its test. */
  readonly test: string;
}

const ACTS_TEST = 'test/attacks/what-anybody-may-do.test.ts';
const ENDINGS_TEST = 'test/attacks/stranger-endings.test.ts';
const LAPSES_TEST = 'test/attacks/stranger-lapses.test.ts';

/** Every described route that takes a stranger, as `openapi.json` names it. A test compares the two. */
export const OPEN_ROUTES = {
  'GET /health': { changes: 'nothing', bound: 'requests of an address', test: ACTS_TEST },
  'GET /versions': { changes: 'nothing', bound: 'requests of an address', test: ACTS_TEST },
  'GET /ready': { changes: 'nothing', bound: 'requests of an address', test: ACTS_TEST },
  'GET /.well-known/till-receipts.json': { changes: 'nothing', bound: 'requests of an address', test: ACTS_TEST },
  'POST /v1/sessions/challenge': {
    changes: 'nothing: the challenge is signed, not stored',
    bound: 'sign-ins of an address',
    test: ACTS_TEST,
  },
  'POST /v1/sessions': {
    changes: 'nothing without a passkey or a one-time link',
    bound: 'sign-ins of an address',
    test: ACTS_TEST,
  },
  'GET /v1/gateway/payment/{id}': {
    changes: 'that payment counts as opened, in the steps of payers; the checkout does the same',
    bound: 'once for each payment',
    test: ACTS_TEST,
  },
  'GET /v1/gateway/payment/{id}/status': {
    changes: 'nothing; a request may be held',
    bound: 'held requests of an address',
    test: ACTS_TEST,
  },
  'POST /v1/gateway/payment/{id}/cancel': {
    changes: 'that payment, if nobody pays it: the id is the right to pay and to cancel it',
    bound: 'a payment is cancelled once',
    test: ACTS_TEST,
  },
  'POST /v1/gateway/payment/{id}/options': {
    changes:
      'that payment counts as asked for options, once; options are not stored, but for a client that never fetches the first one in coin is fetched',
    bound: 'requests of an address; a survey has a budget; coin actions as by `fetch`',
    test: ACTS_TEST,
  },
  'POST /v1/gateway/payment/{id}/fetch': {
    changes: 'the coin actions of that payment: 12 of an account and 48 in all, each for 5 minutes',
    bound: 'each ends alone when a final block is later than its deadline',
    test: ACTS_TEST,
  },
  'POST /v1/gateway/payment/{id}/confirm': {
    changes:
      'that payment, with a signature of the account that pays; a made-up transaction hash is a hint and moves nothing',
    bound: 'open payments of the signing account; signatures that its key did not make have the budget of surveys',
    test: ACTS_TEST,
  },
  'POST /v1/gateway/payment/{id}/address': {
    changes: 'that payment gets an address for the token, which keeps no attempt alive',
    bound: 'one address for each token',
    test: ACTS_TEST,
  },
  'GET /v1/gateway/refund/{id}': {
    changes: 'nothing',
    bound: 'the id is a secret',
    test: ACTS_TEST,
  },
  'POST /v1/gateway/refund/{id}/actions': {
    changes: 'nothing without the secret of the link',
    bound: 'the id is a secret',
    test: ACTS_TEST,
  },
  'POST /v1/gateway/refund/{id}/confirm': {
    changes: 'nothing without a signature of the merchant’s account',
    bound: 'the id is a secret',
    test: ACTS_TEST,
  },
  'POST /v1/gateway/payment/{id}/receipt-email': {
    changes: 'a mail with the receipt of that payment, if it is paid: `test/e2e/mail.test.ts`',
    bound: 'mails of a payment and of an address',
    test: ACTS_TEST,
  },
  'GET /x402/{id}': {
    changes: 'that payment gets addresses; with an authorization that its account has signed, it is being paid',
    bound:
      'one address for each token, one authorization at a time; signatures that the account’s key did not make have the budget of surveys',
    test: ACTS_TEST,
  },
} as const satisfies Record<string, Act>;

/** Acts on a chain, and on pages that `openapi.json` does not describe. */
export const OTHER_ACTS = {
  'an order at a payment link': {
    changes: 'a new payment of that link',
    bound: 'orders of an address at a link',
    test: ACTS_TEST,
  },
  'dust to a deposit address': {
    changes: 'the money of that payment: it counts as a part, and is late money if no more comes',
    bound: 'addresses take turns; final dust is added up once; dust is not swept, and is named when it has doubled',
    test: ENDINGS_TEST,
  },
  'an address opened beside an attempt, and dust to it': {
    changes: 'nothing: the attempt ends as without it',
    bound: 'only enough money keeps a payment processing',
    test: LAPSES_TEST,
  },
  'a used nonce as an authorization of x402': {
    changes: 'nothing: it is taken only with a transfer of exactly its account and amount',
    bound: 'nothing is stored',
    test: 'test/e2e/x402.test.ts',
  },
  'a signature by another key, in the name of an account with code': {
    changes: 'nothing: the account is asked whether it has signed',
    bound: 'nothing is stored',
    test: 'test/e2e/x402.test.ts',
  },
  'an authorization of somebody else, presented to the token or the contract': {
    changes: 'that payment: it is paid, as its payer has signed',
    bound: 'a nonce is used once',
    test: 'test/e2e/x402-money.test.ts',
  },
  'a call of the Collector with an item of one’s own, or with a subject of somebody else': {
    changes: 'nothing: its commitment is not stored',
    bound:
      'an event of an unknown commitment is read once, after the payments of its round; at most 50 are looked up in a round, all at once',
    test: ACTS_TEST,
  },
  'a call of the Collector with an item of a payer, and a signature that is made up': {
    changes: 'nothing: a refused event of a stranger ends no attempt',
    bound: 'an event is read once',
    test: ACTS_TEST,
  },
  'a call of a token that moves nothing from an account of ours, or of a payer': {
    changes: 'nothing: a transfer of nothing is no movement',
    bound: 'it is read once',
    test: 'test/attacks/direct-calls.test.ts',
  },
  'a call of a token or of Permit2 with the signature of a payer for the Collector': {
    changes: 'nothing: both take it from the Collector alone',
    bound: 'the call reverts',
    test: 'test/attacks/direct-calls.test.ts',
  },
  'a sweep of a deposit address': {
    changes: 'nothing but who pays the gas: the money goes where its terms say',
    bound: 'an order that finds nothing is closed',
    test: ACTS_TEST,
  },
  'actions of a cancelled payment, by the hundred': {
    changes: 'nothing of other payments, and no alert',
    bound: 'payments take turns to be judged, by partner and merchant',
    test: ENDINGS_TEST,
  },
} as const satisfies Record<string, Act>;

/** The routes of the description that take callers without a key. */
export function openRoutes(document: ApiDocument): string[] {
  return guardedRoutes(document)
    .filter(({ scheme }) => scheme === 'public' || scheme === 'gateway' || scheme === 'visitor')
    .map(({ method, path }) => `${method.toUpperCase()} ${path}`);
}

/** The text with the tables between their marks. */
export function withSecurityTables(text: string): string {
  return between(between(text, 'what anybody may do', actsTable()), 'what can wait', waitingTable());
}

function actsTable(): string {
  const acts: [string, Act][] = [
    ...Object.entries(OPEN_ROUTES).map(([route, act]): [string, Act] => [`\`${route}\``, act]),
    ...Object.entries(OTHER_ACTS),
  ];
  const rows = acts.map(([name, { changes, bound, test }]) => `| ${name} | ${changes} | ${bound} | \`${test}\` |`);
  return ['| act | changes | bound | test |', '|---|---|---|---|', ...rows].join('\n');
}

function waitingTable(): string {
  const rows = Object.entries(WAITING_STATES).flatMap(([table, states]) =>
    Object.entries<WaitingState>(states).map(([state, { from, out, latest, alert }]) => {
      const named = alert === undefined ? '' : `[\`${alert}\`](operating.md#alert-${alert})`;
      return `| \`${table}\` | \`${state}\` | ${from} | ${out} | ${latest} | ${named} |`;
    }),
  );
  return [
    '| rows | state | put there by | ended by | at the latest | alert |',
    '|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function between(text: string, name: string, table: string): string {
  const [begin, end] = [`<!-- generated: ${name} -->`, `<!-- end: ${name} -->`];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`The page has no place for the table “${name}”.`);
  return `${text.slice(0, from + begin.length)}\n${table}\n${text.slice(to)}`;
}
