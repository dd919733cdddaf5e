#!/usr/bin/env node
/**
 * An external signer for Till with a policy of its own. It believes nothing but the content that it can check:
 *
 *   SIGNER_KEY=0x… SIGNER_LIMITS=eip155:8453/erc20:0x…=50000000000 node policy-signer.mjs
 *
 * SIGNER_KEY         the private key of the account
 * SIGNER_LIMITS      the most that may leave within an hour, in the smallest unit of each asset: <CAIP-19>=<units>, separated by
 *                    commas. Assets without a limit are refused
 * SIGNER_RECIPIENTS  optional: the only accounts that may receive money, separated by commas
 * SIGNER_PORT        8549 by default. It listens on 127.0.0.1 only
 *
 * The digest is computed again from the content, and the recipient is proved by the commitment that the digest covers. So a
 * stolen gateway or database cannot get a signature for other content. The amounts of the last hour are kept in memory:
 * run one signer for each account, and know that a restart begins a new hour.
 */
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';
import {
  encodeAbiParameters,
  encodeFunctionData,
  hashTypedData,
  keccak256,
  parseAbi,
  serializeTransaction,
} from 'viem';
import { privateKeyToAccount, sign } from 'viem/accounts';

/** The releases of the Collector, the only contract that may be called or may receive an authorization. */
const COLLECTORS = ['0x005ce28be7dc9eaea013bbd2790c45feadf9290a', '0xe7a3535e95f067c2cc1f030ee0cf94f67c65b826'];
const PERMIT2 = '0x000000000022d473030f116ddee9f6b43ac78ba3';
const PAY = parseAbi(['function pay(address,bytes32,uint256,uint256,address,uint256) payable']);
/** The first release of the Collector shows ids of 16 bytes, all later ones 32 sealed bytes. */
const FIRST_PAY = parseAbi(['function pay(address,bytes16,uint256,uint256,address,uint256) payable']);
const isSealed = ({ subjectBytes }) => subjectBytes.length === 66;
/** The first digit of an id that the chain shows is the purpose of an item. */
const PURPOSES = { 0: 'payment', 1: 'payout', 2: 'refund', 3: 'return', 4: 'return' };
/** The first refund of a payment has the digit 2, the others have 5 to f. */
for (const digit of '56789abcdef') PURPOSES[digit] = 'refund';
const HOUR_MS = 3_600_000;
const MAX_BODY_BYTES = 1_000_000;

class Refused extends Error {}

function check(isRight, reason) {
  if (!isRight) throw new Refused(reason);
}

const lower = (text) => String(text).toLowerCase();

/** Returns a function that signs a request or throws `Refused`. */
export function createPolicy({ key, limits, recipients, now = Date.now }) {
  const account = privateKeyToAccount(key);
  /** The sum signed within the hour. A commitment may be signed again without counting twice: it is paid only once. */
  const signed = new Map();

  return async (request) => {
    check(request.version === 1, 'the content of the digest is missing');
    check(lower(request.address) === lower(account.address), 'this signer has no such account');
    const own = request.kind === 'typed_data' ? checkTypedData(request) : checkTransaction(request);
    const nowMs = now();
    for (const [commitment, { atMs }] of signed) if (nowMs - atMs >= HOUR_MS) signed.delete(commitment);
    if (own !== undefined) spend(own, nowMs);
    return sign({ hash: request.digest, privateKey: key });
  };

  function spend({ commitment, item }, nowMs) {
    const limit = limits.get(lower(item.asset));
    check(limit !== undefined, `there is no limit for ${item.asset}`);
    const isKnown = recipients === undefined || recipients.has(lower(item.recipient));
    check(isKnown, `${item.recipient} is not on the list of recipients`);
    let total = BigInt(item.amount);
    for (const [each, { asset, amount }] of signed) {
      if (each !== commitment && asset === lower(item.asset)) total += amount;
    }
    check(total <= limit, `${total} units would leave within an hour, and the limit is ${limit}`);
    signed.set(commitment, { asset: lower(item.asset), amount: BigInt(item.amount), atMs: nowMs });
  }

  /** A token of the account: the typed data must be an authorization for the Collector to pay exactly this item. */
  function checkTypedData({ digest, chainId, typedData, items }) {
    check(hashTypedData(typedData) === digest, 'the digest is not the one of the typed data');
    check(items.length === 1, 'typed data pays one item');
    const [item] = items;
    const { message, domain } = typedData;
    const commitment = commitmentOf(chainId, item);
    check(numberOf(chainId) === BigInt(domain.chainId), 'the typed data is for another chain');
    check(lower(item.payer) === lower(account.address), 'the item has another payer');
    if (typedData.primaryType === 'ReceiveWithAuthorization') {
      check(lower(domain.verifyingContract) === tokenOf(item), 'the authorization is for another token');
      check(lower(message.to) === lower(item.collector), 'the authorization is for another account');
      check(BigInt(message.value) === BigInt(item.amount), 'the authorization is for another amount');
    } else {
      check(typedData.primaryType === 'PermitTransferFrom', 'the typed data is of an unknown kind');
      check(lower(domain.verifyingContract) === PERMIT2, 'the permit is for another contract');
      check(lower(message.permitted.token) === tokenOf(item), 'the permit is for another token');
      check(BigInt(message.permitted.amount) === BigInt(item.amount), 'the permit is for another amount');
      check(lower(message.spender) === lower(item.collector), 'the permit is for another spender');
    }
    check(BigInt(message.nonce) === BigInt(commitment), 'the signature does not cover this item');
    checkTerms(item);
    return { commitment, item };
  }

  /** Returns the item if the transaction sends coin of the account. Otherwise it costs nothing but gas. */
  function checkTransaction({ digest, chainId, transaction, items }) {
    const { type, chainId: ownChainId, nonce, to, value, data, gas, maxFeePerGas, maxPriorityFeePerGas } = transaction;
    check(type === '0x2' && BigInt(ownChainId) === numberOf(chainId), 'the transaction is for another chain');
    const serialized = serializeTransaction({
      type: 'eip1559',
      chainId: Number(ownChainId),
      nonce: Number(nonce),
      to,
      value: BigInt(value),
      data,
      gas: BigInt(gas),
      maxFeePerGas: BigInt(maxFeePerGas),
      maxPriorityFeePerGas: BigInt(maxPriorityFeePerGas),
    });
    check(keccak256(serialized) === digest, 'the digest is not the one of the transaction');
    const isNothing = lower(to) === lower(account.address) && data === '0x';
    if (BigInt(value) === 0n) {
      check(isNothing || COLLECTORS.includes(lower(to)), 'the transaction calls an unknown contract');
      return undefined;
    }
    check(items.length === 1, 'coin pays one item');
    const [item] = items;
    const { feeAccount, subjectBytes, amount, fee, recipient, deadline } = item;
    const args = [feeAccount, subjectBytes, BigInt(amount), BigInt(fee), recipient, BigInt(deadline)];
    const isSame =
      lower(data) === lower(encodeFunctionData({ abi: isSealed(item) ? PAY : FIRST_PAY, functionName: 'pay', args }));
    check(isSame && BigInt(value) === BigInt(amount), 'the transaction does not pay this item');
    check(lower(to) === lower(item.collector), 'the transaction calls another contract');
    check(tokenOf(item) === NATIVE, 'coin is sent for a token');
    checkTerms(item);
    return { commitment: commitmentOf(chainId, item), item };
  }
}

function checkTerms({ asset, collector, fee, purpose, subjectBytes }) {
  check(COLLECTORS.includes(lower(collector)), 'the item is for an unknown Collector');
  check(BigInt(fee) === 0n, 'a transfer of our own has no fee');
  // A seal hides the purpose: it is the gateway's word. Amount, recipient and limits are checked all the same.
  const isItsPurpose = isSealed({ subjectBytes }) || PURPOSES[subjectBytes[2]] === purpose;
  check(isItsPurpose && purpose !== 'payment', `${asset} leaves for another purpose`);
}

const NATIVE = `0x${'0'.repeat(40)}`;
const tokenOf = ({ asset }) => lower(/\/erc20:(0x[0-9a-fA-F]{40})$/.exec(asset)?.[1] ?? NATIVE);
const numberOf = (chainId) => BigInt(String(chainId).replace('eip155:', ''));

/** The hash of all terms of the item: the nonce that the payer signs, and that the Collector checks. */
function commitmentOf(chainId, item) {
  check(item.asset.startsWith(`${chainId}/`), 'the asset is on another chain');
  const { collector, feeAccount, subjectBytes, payer, amount, fee, recipient, deadline } = item;
  const order = [
    tokenOf(item),
    feeAccount,
    subjectBytes,
    payer,
    BigInt(amount),
    BigInt(fee),
    recipient,
    BigInt(deadline),
  ];
  const types = `address address bytes${isSealed(item) ? 32 : 16} address uint256 uint256 address uint256`.split(' ');
  const [place, placeTypes] = [
    [numberOf(chainId), collector],
    ['uint256', 'address'],
  ];
  // Sealed items also commit to the place where the nonce is used up: the Collector, the token or Permit2.
  if (isSealed(item)) {
    place.push({ native: 0n, permit2: 2n }[item.method] ?? 1n);
    placeTypes.push('uint256');
  }
  const parameters = [...placeTypes, ...types].map((type) => ({ type }));
  return keccak256(encodeAbiParameters(parameters, [...place, ...order]));
}

/** The HTTP side: 200 with a signature, 403 with a reason, 400 for anything unreadable. */
export function createPolicyServer(policy) {
  return createServer(async (request, response) => {
    const answer = (status, body) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    try {
      const chunks = [];
      let size = 0;
      for await (const chunk of request) {
        size += chunk.length;
        if (size > MAX_BODY_BYTES) throw new RangeError('the request is too large');
        chunks.push(chunk);
      }
      const { r, s, yParity } = await policy(JSON.parse(Buffer.concat(chunks).toString()));
      answer(200, { r, s, v: `0x${(27 + yParity).toString(16)}` });
    } catch (error) {
      if (error instanceof Refused) answer(403, { reason: error.message });
      else answer(400, { reason: 'the request is unreadable' });
    }
  });
}

function listOf(text) {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { SIGNER_KEY, SIGNER_LIMITS = '', SIGNER_RECIPIENTS, SIGNER_PORT = '8549' } = process.env;
  if (SIGNER_KEY === undefined) throw new Error('Set SIGNER_KEY to the private key of the account.');
  const limits = listOf(SIGNER_LIMITS).map((limit) => {
    const [asset, units] = limit.split('=');
    return [lower(asset), BigInt(units)];
  });
  const recipients = SIGNER_RECIPIENTS === undefined ? undefined : new Set(listOf(SIGNER_RECIPIENTS).map(lower));
  const policy = createPolicy({ key: SIGNER_KEY, limits: new Map(limits), recipients });
  const server = createPolicyServer(policy);
  server.listen(Number(SIGNER_PORT), '127.0.0.1', () => {
    process.stdout.write(`listening on http://127.0.0.1:${server.address().port}\n`);
  });
}
