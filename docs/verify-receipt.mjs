#!/usr/bin/env node
/**
 * Checks a receipt of Till with nothing but Node (18 or later), the operator's public key, and any RPC endpoint of the chain:
 *
 *   node verify-receipt.mjs receipt.json --key till-receipts.json --rpc https://rpc.example
 *
 * `receipt.json` is the answer of GET /v1/payments/{id}/receipt, `-` reads it from standard input. `--key` takes what
 * /.well-known/till-receipts.json answers, as a file or as its URL: keep a copy from when you signed up. Without `--rpc`
 * only the receipt itself is checked. Exit code 0: every check passed; 1: one did not; 2: it could not be checked.
 */
import { createPublicKey, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

/**
 * The releases of the contract that carries payments out. Each has the same address on every chain and no owner. The source
 * of the last one is in contracts/, that of the ones before is in the history of that folder.
 */
const COLLECTORS = ['0x005CE28BE7dC9eAea013Bbd2790c45FeaDF9290A', '0xE7A3535e95f067C2cc1F030EE0CF94F67c65B826'];
/** The releases of the contract that sweeps deposit addresses, likewise. */
const DEPOSITS = [
  '0x45CF249FCdd8DDf78E1F65dcc6dEa6d6dB0F0ead',
  '0xA76c90f3943b2d090d613343E15c952d53508506',
  '0xa7A95039B3cfa90f7aF034F09667F8b57081fa4E',
];
const MEMBERS =
  'amount asset blockHash blockNumber chainId collector commitment deadline fee feeAccount form logIndex merchantId ' +
  'network payer paymentId priceUnit priceValue recipient referenceId succeededAt token transaction';
/**
 * The second form names the refunds of the payment. The third is of a payment that was sent to its deposit address. The last
 * two are the same for contracts that show 32 sealed bytes in place of an id: the operator's signature links the two.
 */
const FORMS = {
  'till-receipt/1': MEMBERS,
  'till-receipt/2': `${MEMBERS} refunds`,
  'till-receipt/3': `${MEMBERS} arrived refunds sweeps transfers`,
  'till-receipt/4': `${MEMBERS} nonceSpace refunds subject`,
  'till-receipt/5': `${MEMBERS} arrived refunds subject sweeps transfers`,
};
const isOfDeposit = ({ form }) => form === 'till-receipt/3' || form === 'till-receipt/5';
const hasSubjects = ({ form }) => form === 'till-receipt/4' || form === 'till-receipt/5';
const REFUND_MEMBERS =
  'amount blockHash blockNumber collector commitment deadline feeAccount logIndex payer recipient refundId transaction';
const PART_MEMBERS = {
  refunds: REFUND_MEMBERS,
  sweeps: 'amount blockHash blockNumber fee logIndex transaction',
  transfers: 'amount blockHash blockNumber logIndex sender transaction',
};
const NATIVE = `0x${'0'.repeat(40)}`;
const RPC_WITHIN_MS = 20_000;

class Refused extends Error {}

function check(isRight, problem) {
  if (!isRight) throw new Refused(problem);
}

/** The signature is the operator's word for the receipt; everything else can be seen without believing it. */
function checkSignature({ receipt, signature }, { keys }) {
  check(Object.hasOwn(FORMS, receipt?.form), 'this is not a receipt in a form known here');
  check(
    hasMembers(receipt, FORMS[receipt.form]),
    'members are missing from the receipt, or there are some that do not belong',
  );
  for (const [name, value] of Object.entries(receipt)) {
    if (!Object.hasOwn(PART_MEMBERS, name)) {
      check(typeof value === 'string', 'a member of the receipt is not text');
      continue;
    }
    const isSealed = name === 'refunds' && hasSubjects(receipt);
    const members = isSealed ? `${REFUND_MEMBERS} nonceSpace subject` : PART_MEMBERS[name];
    const isList = Array.isArray(value) && value.every((part) => hasMembers(part, members));
    check(isList, `members are missing from one of the ${name}, or there are some that do not belong`);
    const isText = value.every((part) => Object.values(part).every((member) => typeof member === 'string'));
    check(isText, 'a member of the receipt is not text');
  }
  const key = keys.find(({ kid }) => kid === signature?.keyId);
  check(
    key !== undefined && signature.algorithm === 'ed25519',
    'it is signed with a key that is not among those given',
  );
  const text = JSON.stringify(sorted(receipt));
  const publicKey = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key.x }, format: 'jwk' });
  const isSigned = verify(null, Buffer.from(text), publicKey, Buffer.from(String(signature.value), 'base64url'));
  check(isSigned, 'the signature is not of this receipt: it was altered, or not made by the operator');
}

function hasMembers(object, names) {
  return (
    Object.keys(object ?? {})
      .sort()
      .join(' ') === names.split(' ').sort().join(' ')
  );
}

function sorted(object) {
  const members = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, value]) => [name, Array.isArray(value) ? value.map(sorted) : value]));
}

/**
 * Each refund as a receipt of its own. The id of a refund equals the payment's id except for its first four bits, which number the
 * refund. All refunds together are at most the payment.
 */
function refundsOf({ refunds = [], ...payment }) {
  const ids = new Set(refunds.map(({ refundId }) => refundId));
  check(ids.size === refunds.length, 'a refund is named twice');
  const tail = idBytes(payment.paymentId).slice(1);
  const isOwn = ({ refundId }) => idBytes(refundId).slice(1) === tail && /[25-9a-f]/.test(idBytes(refundId)[0]);
  check(refunds.every(isOwn), 'a refund belongs to another payment');
  const total = refunds.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  check(total <= BigInt(payment.amount), 'the refunds are more than the payment');
  return refunds.map(({ refundId, ...refund }) => ({ ...payment, ...refund, paymentId: refundId, fee: '0' }));
}

/** The commitment is what the payer signed. Hashing it again shows that the payer agreed to every one of its parts. */
function checkCommitment(receipt) {
  checkAsset(receipt);
  const { collector } = receipt;
  const isCollector = COLLECTORS.some((release) => same(collector, release));
  check(isCollector, 'it was carried out by a contract that is not the Collector');
  const words = [
    uint(receipt.chainId),
    address(collector),
    ...(isSealed(receipt) ? [uint(receipt.nonceSpace)] : []),
    address(receipt.token),
    address(receipt.feeAccount),
    shown(receipt).padEnd(64, '0'),
    address(receipt.payer),
    uint(receipt.amount),
    uint(receipt.fee),
    address(receipt.recipient),
    uint(receipt.deadline),
  ];
  check(same(keccakOf(words), receipt.commitment), 'its commitment is not the hash of its parts');
}

/** True if the contract shows a seal of 32 bytes. The first releases show the 16 bytes of the id. */
const isSealed = (receipt) => shown(receipt).length === 64;

/** The bytes that the chain shows for the payment or refund. An id that the chain shows must be that of the receipt. */
function shown({ subject, paymentId }) {
  const id = idBytes(paymentId);
  if (subject === undefined) return id;
  check(/^0x([0-9a-f]{32}|[0-9a-f]{64})$/.test(subject), 'its subject has neither 16 nor 32 bytes');
  check(subject.length === 66 || subject === `0x${id}`, 'its subject is that of another payment');
  return subject.slice(2);
}

function checkAsset({ chainId, network, asset, token, fee, amount }) {
  check(network === `eip155:${chainId}`, 'its network and its chain id differ');
  const isItsToken = token === NATIVE ? asset.startsWith(`${network}/slip44:`) : asset === `${network}/erc20:${token}`;
  check(isItsToken, 'its asset and its token differ');
  check(BigInt(fee) <= BigInt(amount), 'its fee is more than its amount');
}

/**
 * A deposit address follows from its terms, and nothing can leave it but to its recipient and fee account. The salt of the
 * address is the commitment.
 */
function checkDepositAddress(receipt) {
  checkAsset(receipt);
  const { collector, payer } = receipt;
  const isKnown = DEPOSITS.some((release) => same(collector, release));
  check(isKnown, 'its contract is not that of deposit addresses');
  check(same(keccakOf(depositTerms(receipt)), receipt.commitment), 'its commitment is not the hash of its terms');
  // The creation code of a minimal proxy: ERC-7511, and EIP-1167 of the first releases.
  const proxy = isSealed(receipt)
    ? keccakOf([`602c8060095f395ff3365f5f375f5f365f73${bare(collector)}5af43d5f5f3e5f3d91602a57fd5bf3`])
    : keccakOf([`3d602d80600a3d3981f3363d3d373d3d3d363d73${bare(collector)}5af43d82803e903d91602b57fd5bf3`]);
  const derived = keccakOf(['ff', bare(collector), receipt.commitment.slice(2), proxy.slice(2)]);
  check(same(`0x${derived.slice(-40)}`, payer), 'its deposit address does not follow from its terms');
}

/** The terms of a deposit address in the order of their hash. The first releases hash them without padding. */
function depositTerms(receipt) {
  const { token, feeAccount, recipient, amount, fee } = receipt;
  return isSealed(receipt)
    ? [address(token), address(feeAccount), shown(receipt), address(recipient), uint(amount), uint(fee)]
    : [bare(token), bare(feeAccount), shown(receipt), bare(recipient), half(amount), half(fee)];
}

/** The transfers, and the sweeps up to the asked amount, must make up the money that the receipt names. */
function checkArrival({ amount, fee, arrived, transfers, sweeps, ...receipt }) {
  const parts = [...transfers, ...sweeps];
  const keys = new Set(parts.map(placeKey));
  check(keys.size === parts.length, 'a transfer or a sweep is named twice');
  check(keys.has(placeKey(receipt)), 'its transaction is none of its transfers and sweeps');
  const asked = BigInt(amount);
  check(asked > 0n, 'nothing was asked');
  const sent = sumOf(transfers);
  const swept = sumOf(sweeps);
  const counted = swept < asked ? swept : asked;
  check(
    BigInt(arrived) === (sent > counted ? sent : counted),
    'its transfers and sweeps are not the money that it names',
  );
  checkSweptFees({ ...receipt, amount, fee, sweeps });
}

/**
 * A sweep takes the share of the asked fee. A sealed address takes no more than the asked fee at once, and a fee that its
 * account could not take is paid by a later sweep: there the sum counts, which rounding makes smaller by a unit a sweep.
 */
function checkSweptFees({ amount, fee, sweeps, ...receipt }) {
  const problem = 'a sweep has taken another fee than the share of the terms';
  const shareOf = (sweep) => (BigInt(sweep.amount) * BigInt(fee)) / BigInt(amount);
  if (!isSealed(receipt)) {
    for (const sweep of sweeps) check(BigInt(sweep.fee) === shareOf(sweep), problem);
    return;
  }
  const shares = sweeps.map((sweep) => (shareOf(sweep) < BigInt(fee) ? shareOf(sweep) : BigInt(fee)));
  const most = shares.reduce((sum, share) => sum + share + 1n, 0n);
  check(sumOf(sweeps.map((sweep) => ({ amount: sweep.fee }))) <= most, problem);
}

const placeKey = ({ transaction, logIndex }) => `${transaction.toLowerCase()} ${Number(logIndex)}`;
const sumOf = (parts) => parts.reduce((sum, { amount }) => sum + BigInt(`0x${uint(amount)}`), 0n);

/** What the chain says, by an endpoint that you trust. */
async function checkChain(receipt, rpc) {
  const { logs, depth } = await findMined(receipt, rpc);
  const [token, payer, recipient] = [receipt.token, receipt.payer, receipt.recipient].map(address);
  const [amount, fee] = [receipt.amount, receipt.fee].map(uint);
  const event = isSealed(receipt)
    ? {
        topics: [SEALED_COLLECTED, receipt.commitment],
        words: [
          ...[uint(receipt.nonceSpace), token, address(receipt.feeAccount), shown(receipt), payer],
          ...[amount, fee, recipient, uint(receipt.deadline)],
        ],
      }
    : {
        topics: [COLLECTED, receipt.commitment],
        words: [shown(receipt).padEnd(64, '0'), payer, token, amount, fee, recipient],
      };
  checkEvent(receipt, logs, event);
  // Through Permit2, money without a fee goes from the payer to the recipient directly.
  const isDirect = isSealed(receipt) && receipt.nonceSpace === '2' && receipt.fee === '0';
  if (receipt.token !== NATIVE) checkPayout(receipt, isDirect ? receipt.payer : receipt.collector, logs);
  return depth;
}

/** A transfer to the deposit address, by the token's own event, in a block before the deadline. */
async function checkTransfer(receipt, transfer, rpc) {
  const { logs, depth, block } = await findMined({ ...receipt, ...transfer }, rpc);
  check(Number(block.timestamp) <= Number(receipt.deadline), 'a transfer came after the deadline');
  checkEvent({ ...transfer, collector: receipt.token }, logs, {
    topics: [TRANSFER, `0x${address(transfer.sender)}`, `0x${address(receipt.payer)}`],
    words: [uint(transfer.amount)],
  });
  return depth;
}

/** A sweep of the deposit address, by the event of the contract and that of the token. */
async function checkSweep(receipt, sweep, rpc) {
  const { logs, depth } = await findMined({ ...receipt, ...sweep }, rpc);
  const swept = [address(receipt.token), uint(sweep.amount), uint(sweep.fee)];
  const event = isSealed(receipt)
    ? { topics: [SEALED_SWEPT, receipt.commitment], words: [...depositTerms(receipt), ...swept] }
    : {
        topics: [SWEPT, receipt.commitment],
        words: [shown(receipt).padEnd(64, '0'), ...swept, address(receipt.recipient)],
      };
  checkEvent({ ...receipt, ...sweep }, logs, event);
  checkPayout({ ...receipt, ...sweep }, receipt.payer, logs);
  return depth;
}

/** The transaction, if it is in the named block and the block is in the chain. */
async function findMined({ chainId, transaction, blockHash, blockNumber }, rpc) {
  check(Number(await rpc('eth_chainId')) === Number(chainId), 'the endpoint is of another chain');
  const mined = await rpc('eth_getTransactionReceipt', [transaction]);
  check(mined !== null, 'the chain does not know the transaction');
  check(mined.status === '0x1', 'the transaction was reverted');
  check(same(mined.blockHash, blockHash), 'the transaction is in another block');
  check(Number(mined.blockNumber) === Number(blockNumber), 'the transaction is at another height');
  const block = await rpc('eth_getBlockByNumber', [mined.blockNumber, false]);
  check(block !== null && same(block.hash, blockHash), 'its block is not in the chain any more');
  const depth = Number(await rpc('eth_blockNumber')) - Number(mined.blockNumber) + 1;
  return { logs: mined.logs, block, depth };
}

function checkEvent({ logIndex, collector }, logs, { topics, words }) {
  const log = logs.find((each) => Number(each.logIndex) === Number(logIndex));
  check(log !== undefined, 'the transaction has no event of that number');
  check(same(log.address, collector), 'the event is not the Collector’s, nor that of the expected contract');
  check(
    log.topics.length === topics.length && topics.every((topic, at) => same(topic, log.topics[at])),
    'the event is another one',
  );
  check(same(log.data, `0x${words.join('')}`), 'the event differs from the receipt');
}

/** The token's own word: so much went from the Collector, the payer or the deposit address to the recipient. */
function checkPayout({ amount, fee, token, recipient }, from, logs) {
  const net = BigInt(amount) - BigInt(fee);
  if (net === 0n) return;
  const topics = [TRANSFER, `0x${address(from)}`, `0x${address(recipient)}`];
  const isTransfer = (log) =>
    same(log.address, token) &&
    topics.every((topic, at) => same(topic, log.topics[at])) &&
    same(log.data, `0x${uint(String(net))}`);
  check(logs.some(isTransfer), 'the token has not transferred the net amount to the recipient');
}

const same = (a, b) => String(a).toLowerCase() === String(b).toLowerCase();

function uint(text) {
  check(/^(0|[1-9][0-9]{0,77})$/.test(text), `${text} is not a whole number`);
  return BigInt(text).toString(16).padStart(64, '0');
}

function address(text) {
  check(/^0x[0-9a-fA-F]{40}$/.test(text), `${text} is not an address`);
  return text.slice(2).toLowerCase().padStart(64, '0');
}

/** The 20 bytes of an address. */
const bare = (text) => address(text).slice(24);

/** A number in 16 bytes. */
function half(text) {
  const word = uint(text);
  check(word.startsWith('0'.repeat(32)), `${text} does not fit into 16 bytes`);
  return word.slice(32);
}

/** The 16 bytes behind the id of a payment or refund: its 26 characters are digits of base 32, after Crockford. */
function idBytes(id) {
  check(/^(pay|rfnd)_[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(id), 'its payment id or a refund id is none');
  let value = 0n;
  for (const digit of id.slice(id.indexOf('_') + 1))
    value = value * 32n + BigInt('0123456789ABCDEFGHJKMNPQRSTVWXYZ'.indexOf(digit));
  return value.toString(16).padStart(32, '0');
}

const MASK = 2n ** 64n - 1n;
const rotate = (lane, by) => ((lane << BigInt(by)) | (lane >> BigInt(64 - by))) & MASK;

/** Keccak-256 as Ethereum has it, which is SHA-3 before its padding was changed; Node has only the latter. */
function keccak256(bytes) {
  const rate = 136;
  const padded = Buffer.alloc((Math.floor(bytes.length / rate) + 1) * rate);
  bytes.copy(padded);
  padded[bytes.length] ^= 0x01;
  padded[padded.length - 1] ^= 0x80;
  const state = Array(25).fill(0n);
  for (let block = 0; block < padded.length; block += rate) {
    for (let lane = 0; lane < rate / 8; lane += 1) state[lane] ^= padded.readBigUInt64LE(block + 8 * lane);
    permute(state);
  }
  const digest = Buffer.alloc(32);
  for (let lane = 0; lane < 4; lane += 1) digest.writeBigUInt64LE(state[lane], 8 * lane);
  return `0x${digest.toString('hex')}`;
}

/** Keccak-f[1600]. The constants of its rounds come from the shift register that the standard makes them with. */
function permute(a) {
  let register = 1;
  for (let round = 0; round < 24; round += 1) {
    const columns = [0, 1, 2, 3, 4].map((x) => a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20]);
    for (let at = 0; at < 25; at += 1) a[at] ^= columns[(at + 4) % 5] ^ rotate(columns[(at + 1) % 5], 1);
    let [x, y, carried] = [1, 0, a[1]];
    for (let step = 0; step < 24; step += 1) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      const at = x + 5 * y;
      [carried, a[at]] = [a[at], rotate(carried, (((step + 1) * (step + 2)) / 2) % 64)];
    }
    for (let row = 0; row < 25; row += 5) {
      const lanes = a.slice(row, row + 5);
      for (let lane = 0; lane < 5; lane += 1)
        a[row + lane] = lanes[lane] ^ (~lanes[(lane + 1) % 5] & MASK & lanes[(lane + 2) % 5]);
    }
    for (let bit = 0; bit < 7; bit += 1) {
      if (register & 1) a[0] ^= 1n << BigInt(2 ** bit - 1);
      register = (register << 1) ^ (register & 0x80 ? 0x171 : 0);
    }
  }
}

const keccakOf = (words) => keccak256(Buffer.from(words.join(''), 'hex'));
const COLLECTED = topicOf('Collected(bytes32,bytes16,address,address,uint256,uint256,address)');
const SWEPT = topicOf('Swept(bytes32,bytes16,address,uint256,uint256,address)');
const SEALED_COLLECTED = topicOf(
  'Collected(bytes32,uint256,address,address,bytes32,address,uint256,uint256,address,uint256)',
);
const SEALED_SWEPT = topicOf('Swept(bytes32,address,address,bytes32,address,uint256,uint256,address,uint256,uint256)');
const TRANSFER = topicOf('Transfer(address,address,uint256)');

function topicOf(event) {
  return keccak256(Buffer.from(event));
}

function openRpc(url) {
  return async (method, params = []) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(RPC_WITHIN_MS),
    });
    const { result, error } = await response.json();
    if (error || result === undefined) throw new Error(`the endpoint refused ${method}`);
    return result;
  };
}

async function readJson(place) {
  if (!/^https?:/.test(place)) return JSON.parse(readFileSync(place === '-' ? 0 : place, 'utf8'));
  return (await fetch(place, { signal: AbortSignal.timeout(RPC_WITHIN_MS) })).json();
}

const say = (line) => process.stdout.write(`${line}\n`);

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { key: { type: 'string' }, rpc: { type: 'string' } },
  });
  if (positionals.length !== 1 || values.key === undefined) {
    throw new Error('usage: verify-receipt.mjs <receipt.json or -> --key <file or URL> [--rpc <URL>]');
  }
  const signed = await readJson(positionals[0]);
  checkSignature(signed, await readJson(values.key));
  say('signed     by the operator, and unaltered since');
  const { receipt } = signed;
  const isDeposit = isOfDeposit(receipt);
  const refunds = refundsOf(receipt);
  for (const each of [...(isDeposit ? [] : [receipt]), ...refunds]) checkCommitment(each);
  if (isDeposit) {
    checkDepositAddress(receipt);
    checkArrival(receipt);
    say('committed  what is sent to the deposit address can only reach the recipient and the fee account');
  } else say('committed  the payer signed these very terms');
  if (values.rpc !== undefined) await checkAll(receipt, refunds, openRpc(values.rpc));
}

async function checkAll(receipt, refunds, rpc) {
  if (isOfDeposit(receipt)) await checkDeposit(receipt, rpc);
  else {
    const depth = await checkChain(receipt, rpc);
    const net = BigInt(receipt.amount) - BigInt(receipt.fee);
    say(`on chain   ${net} of ${receipt.asset} reached ${receipt.recipient}, ${depth} blocks deep`);
  }
  for (const refund of refunds) {
    const below = await checkChain(refund, rpc);
    say(`refunded   ${refund.amount} of ${refund.asset} reached ${refund.recipient}, ${below} blocks deep`);
  }
}

async function checkDeposit(receipt, rpc) {
  const { asset, payer, recipient, arrived } = receipt;
  for (const transfer of receipt.transfers) {
    const depth = await checkTransfer(receipt, transfer, rpc);
    say(`on chain   ${transfer.amount} of ${asset} arrived at ${payer}, ${depth} blocks deep`);
  }
  for (const sweep of receipt.sweeps) {
    const depth = await checkSweep(receipt, sweep, rpc);
    say(
      `swept      ${BigInt(sweep.amount) - BigInt(sweep.fee)} of ${asset} reached ${recipient}, ${depth} blocks deep`,
    );
  }
  const missing = BigInt(receipt.amount) - BigInt(arrived);
  if (missing > 0n) say(`accepted   ${arrived} of ${asset}, which is ${missing} less than was asked`);
}

main().catch((error) => {
  process.stderr.write(`${error instanceof Refused ? 'refused' : 'not checked'}: ${error.message}\n`);
  process.exitCode = error instanceof Refused ? 1 : 2;
});
