/** A value that a chain's endpoints report, and that decides something. */
interface EndpointWord {
  readonly value: string;
  readonly decides: string;
  /** How many endpoints must say it. */
  readonly agree: string;
  /** The bound by facts of our own. */
  readonly bound: string;
  /** The effect if the answers contradict each other or exceed the bound. */
  readonly beyond: string;
  /** A test in which one endpoint lies about it. */
  readonly test: { readonly file: string; readonly title: string };
}

const HERE = 'test/attacks/one-endpoint.test.ts';
const MONEY = 'test/attacks/forged-money.test.ts';
const LYING = 'test/attacks/lying-endpoints.test.ts';

/** Every such value. The table of `docs/security.md` is made of these rows, and a test looks for the test of each. */
export const ENDPOINT_WORDS = [
  {
    value: 'nonce',
    decides: 'the nonce of a new transaction, and whether a final one is sent again',
    agree: 'two. The only configured one twice: about its newest block and a final one',
    bound: 'one answer counts within the nonces of the journal. A plan reaches 64 nonces ahead',
    beyond: 'no nonce is taken and nothing is reopened; alert `endpoints_disagree`',
    test: { file: HERE, title: 'nonce: a count of zero reopens nothing, and erases no cost' },
  },
  {
    value: 'head',
    decides: 'which blocks are final, and which are called `safe` and `finalized`',
    agree: 'two: the second highest counts',
    bound: 'never above the blocks that were read; alone only at three times the depth',
    beyond: 'payments wait',
    test: { file: LYING, title: 'makes no block final by claiming a longer chain' },
  },
  {
    value: 'head at the start of a node',
    decides: 'from when on the node ends payments by the clock: a restored database is noticed before',
    agree: 'two must answer: the higher one counts',
    bound: 'two minutes',
    beyond: 'no payment expires by the clock for two minutes',
    test: {
      file: 'test/e2e/unsaid-restore.test.ts',
      title: 'ends no payment by the clock sooner because one endpoint claims a shorter chain',
    },
  },
  {
    value: 'first block of a network',
    decides: 'where the reading of a network begins, and the opening balances of its books',
    agree: 'two: the second highest head counts, and both show the block',
    bound: 'the first reading alone; `startAt` of the sandbox',
    beyond: 'the network is not read yet',
    test: { file: MONEY, title: 'begins in a block that two endpoints know, however long one says the chain is' },
  },
  {
    value: 'block 0 of a network',
    decides: 'which of the chains with this number the database belongs to',
    agree: 'two, at the first use; the only configured one alone',
    bound: 'later the remembered one, with which each endpoint is compared for itself',
    beyond:
      'the endpoint is not asked; at the first use, nothing is offered on the network; alert `network_not_as_known`',
    test: {
      file: 'test/e2e/first-use.test.ts',
      title: 'is not stopped by one endpoint on another chain, which is not asked afterwards',
    },
  },
  {
    value: 'block time',
    decides: 'whether a deadline has passed',
    agree: 'two, with the hash of the block. One alone chooses which attempts are looked at',
    bound:
      'for that choice, a minute from our clock and the depth, else two are asked; for sending, at most a minute ahead of our clock',
    beyond: 'no payment ends; items are sent; alerts `endpoints_disagree` and `payments_undetermined`',
    test: {
      file: 'test/e2e/watch.test.ts',
      title: 'ends no attempt before its deadline while an endpoint reports each block a day too late',
    },
  },
  {
    value: 'receipt and event',
    decides: 'that a payment, payout, refund or sweep was made',
    agree: 'two',
    bound: 'the terms of the stored item, under its commitment',
    beyond: 'the payment waits; alert `endpoints_disagree`',
    test: { file: LYING, title: 'forges no success: the event must be in the receipt that the honest endpoint has' },
  },
  {
    value: 'missing event',
    decides: 'that a payment was not made',
    agree: 'two',
    bound: 'the authorization must be unused as well',
    beyond: 'the payment waits; alert `endpoints_disagree`',
    test: {
      file: LYING,
      title: 'cannot hide a payment: a paid one neither fails nor expires, and succeeds when the lies stop',
    },
  },
  {
    value: 'event without a stored item',
    decides: 'that the database has forgotten a transfer, and payouts and refunds are frozen',
    agree: 'two',
    bound: 'a token that payments are made in, an amount, and the transfer of the token itself in the same transaction',
    beyond: 'an event that two endpoints deny is deleted; while one of two shows it, payouts wait, with an alert',
    test: {
      file: 'test/attacks/forged-outgoing.test.ts',
      title: 'is forgotten when one endpoint alone made it up: nothing is frozen, and the payout is sent',
    },
  },
  {
    value: 'authorization state',
    decides: 'that an attempt can never be carried out, and another one may be signed',
    agree: 'two, at a final block',
    bound: 'the deadline, and the stored events',
    beyond: 'it waits; alert `endpoints_disagree`',
    test: { file: LYING, title: 'does not have a payout sent twice by calling its authorization unused' },
  },
  {
    value: 'balance of a deposit address',
    decides: 'that money has arrived there',
    agree: 'two, at a final block',
    bound: 'the proved sweeps',
    beyond: 'the payment waits; alert `endpoints_disagree`',
    test: {
      file: 'test/e2e/deposits.test.ts',
      title: 'is not paid while endpoints contradict each other about its balance',
    },
  },
  {
    value: 'balance of an account of ours',
    decides: 'coin that came outside of payments, opening balances, and whether the books have cover',
    agree: 'two, at a final block',
    bound: 'the books, with the gas of transactions that two endpoints show',
    beyond: 'nothing is booked, frozen or lifted; alert `audit_failing`',
    test: { file: MONEY, title: 'is no unexpected coin' },
  },
  {
    value: 'coin of a relayer',
    decides: 'the alert `relayer_balance_low`, and nothing else',
    agree: 'one',
    bound: '`RELAYER_MIN_BALANCE`. An empty relayer raises `relayer_out_of_funds` by the word of two',
    beyond: 'the alert is wrong until the next look, half a minute later',
    test: {
      file: 'test/e2e/relay.test.ts',
      title: 'sends all payments although an endpoint denies the coin of its relayer: only an alert comes and goes',
    },
  },
  {
    value: 'transfers from and to an account of ours',
    decides:
      'unexpected money, the account that it would be returned to, the account of floats that were moved, and departures that nobody ordered',
    agree: 'two. A transfer that one of them does not list must be in the receipts of both',
    bound: 'the stored events of the same transaction',
    beyond: 'later blocks are not read for it; alert `endpoints_disagree`',
    test: { file: MONEY, title: 'is no unexpected token, and the true transfer beside it is found when the lies stop' },
  },
  {
    value: 'coin of a payer in a block that is not final',
    decides: 'that a payment is processing, so that nobody else pays it',
    agree: 'one',
    bound: 'every term of the stored action',
    beyond: 'the payment is open again in the first final block after the deadline of the action',
    test: { file: MONEY, title: 'keeps a payment processing until its action is over' },
  },
  {
    value: 'cost of a transaction',
    decides: 'the gas in the books, and in the budgets of payers and networks',
    agree: 'two',
    bound: 'while it is not final, a transaction counts with the most it can cost',
    beyond: 'the transaction stays open; alert `endpoints_disagree`',
    test: { file: HERE, title: 'cost of a transaction: one that two endpoints do not show is not booked' },
  },
  {
    value: 'tip',
    decides: 'a price that is paid whole',
    agree: 'two are asked, and the lower one counts',
    bound: '`maxTip` of the network, else 20 gwei; `GAS_PRICE_CAP`; `GAS_COST_PER_HOUR`',
    beyond: 'the cap is offered',
    test: { file: HERE, title: 'tip: the lower of two is paid' },
  },
  {
    value: 'base fee',
    decides: 'the most that a unit of gas may cost',
    agree:
      'two are asked; of two that contradict each other, the one nearer to the last known fee counts, of three the middle one',
    bound: '20,000 gwei; `GAS_PRICE_CAP`',
    beyond: 'nothing new is sent; alert `gas_price_above_cap`',
    test: { file: HERE, title: 'base fee: one that is too high stops no payment' },
  },
  {
    value: 'gas for data',
    decides: 'the gas limit on Arbitrum. All other limits are our own',
    agree: 'one',
    bound: '50 million; unused gas is not paid',
    beyond: 'the bound is used',
    test: { file: 'src/chains/evm/data-gas.test.ts', title: 'is bounded, whatever the node says' },
  },
  {
    value: 'answer to a broadcast',
    decides: 'whether a transaction has to be broadcast once more, and with a higher fee',
    agree: 'one at first. After three blocks without the transaction every endpoint gets it',
    bound: 'the nonce of two endpoints says whether a transaction is mined',
    beyond: 'the transaction is broadcast to every endpoint, again and again, until its nonce is used',
    test: { file: HERE, title: 'broadcast: transactions that one endpoint swallows are mined by another' },
  },
  {
    value: 'refusal of an item',
    decides: 'whether a signature is taken, and when its item is sent. The token decides in the block',
    agree: 'two. The first refusal of an item that is due may be of one',
    bound: 'an item that fails on the chain is sent three times at most, within the gas budgets',
    beyond:
      'the signature is taken and the item is sent; while the second endpoint is silent, one endpoint has it refused or postponed; it never fails by a refusal',
    test: { file: HERE, title: 'simulation: an endpoint that refuses every item keeps none from being sent' },
  },
  {
    value: 'code of an account whose signature is not that of its key',
    decides: 'whether the signature is taken: the code decides then',
    agree: 'two must find the signature good; the only configured one alone',
    bound: 'the token asks the code in the block',
    beyond:
      'the signature is refused; while only one of several endpoints answers, or their outcomes differ, `confirm` answers 503 with `Retry-After`',
    test: {
      file: 'src/chains/evm/judge.test.ts',
      title: 'takes no made-up signature, if one endpoint of two or three invents code that confirms everything',
    },
  },
  {
    value: 'code, balance and allowance of an account that asks for options',
    decides: 'which options are shown',
    agree: 'one',
    bound: '`confirm` asks again, and the token decides in the block',
    beyond: 'options of the network are missing, and come back with the next endpoint; nothing is charged',
    test: { file: HERE, title: 'options: an endpoint that denies all funds hides the options of its network alone' },
  },
  {
    value: 'code of our contracts and of Permit2, and what tokens say of themselves',
    decides: 'which networks and tokens are offered, and the contract that payers sign for or send coin to',
    agree: 'two. A token is good by one that nobody contradicts; the only configured one is taken alone',
    bound: 'hashes of the code, decimals and domains of our own records',
    beyond:
      'contracts and tokens stay as they were, and at the start of a node are not offered; alert `endpoints_disagree`. While all others are silent, one is believed that all is as in our records',
    test: {
      file: HERE,
      title: 'code: an endpoint that denies every contract and the decimals of every token switches nothing off',
    },
  },
  {
    value: 'chain id',
    decides: 'whether an endpoint belongs to the network',
    agree: 'each for itself',
    bound: 'the number in the record of the network',
    beyond: 'the endpoint is not asked; alert `endpoints_missing`',
    test: {
      file: 'src/chains/evm/rpc.test.ts',
      title: 'does not believe an endpoint on another chain, also when it changes later',
    },
  },
] as const satisfies readonly EndpointWord[];

const BEGIN = '<!-- The table is generated from scripts/endpoint-words.ts. -->';
const END = '<!-- End of the table. -->';

/** The page with its table made anew. */
export function withEndpointWords(page: string): string {
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before < 0 || after < before) throw new Error('docs/security.md has no place for the words of endpoints.');
  const rows = ENDPOINT_WORDS.map(
    ({ value, decides, agree, bound, beyond, test }) =>
      `| ${value} | ${decides} | ${agree} | ${bound} | ${beyond} | \`${test.file}\` |`,
  );
  const head = [
    '| value | decides | endpoints that must say it | bound | beyond it | test |',
    '|---|---|---|---|---|---|',
  ];
  return `${page.slice(0, before)}${BEGIN}\n\n${[...head, ...rows].join('\n')}\n\n${page.slice(after)}`;
}
