import assert from 'node:assert/strict';
import { encodeFunctionData, type Hex, keccak256, stringToBytes } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { listEvents } from '../../src/store/events/events.ts';
import { SANDBOX_ASSETS } from '../chains/sandbox-assets.ts';
import { type OptionBody, readBuild, result, type Wallet, walletOn } from '../e2e/paying-shop.ts';
import { createTestMerchant, createTestPartner, freshKey, type TestGateway } from '../gateway.ts';
import { until } from '../until.ts';
import { type FaultChain, FUNDS, type Payer, TOKEN_ABI } from './fault-chain.ts';

interface SignTerms {
  readonly asset?: string;
  /** In cents. */
  readonly price?: string;
  readonly payer?: Payer;
  /** True if the merchant has no destination, so that the intermediate account keeps the money. */
  readonly isHeld?: boolean;
  /** The node whose API is used. */
  readonly on?: TestGateway;
}

/** The signed option, its payer, and the confirmation request. */
export interface SignedPayment {
  readonly id: string;
  readonly asset: string;
  readonly amount: bigint;
  readonly payer: Payer;
  readonly merchant: { readonly id: string; readonly recipient: Hex };
  readonly recipient: Hex;
  readonly option: OptionBody;
  readonly results: readonly ReturnType<typeof result>[];
  confirm(query?: string, by?: Wallet): ReturnType<Wallet['confirm']>;
}

/** Generous, because the machine may be busy. */
export const WITHIN = { withinMs: 80_000 };
const PRICE = { unit: 'iso4217/USD', value: '1000' };
/** Ten dollars in a token of six decimals. */
export const AMOUNT = 10_000_000n;

export const USDC = SANDBOX_ASSETS['eip3009-vrs'];
export const EURC = SANDBOX_ASSETS['eip3009-bytes'];
export const USDT = SANDBOX_ASSETS.permit2;

export const tokenOf = (asset: string) => asset.slice(asset.lastIndexOf(':') + 1) as Hex;

let recipients = 0;

/** A partner and its customers: all their actions go through the API. */
export async function openShopper({ chain, gateway }: { chain: FaultChain; gateway: TestGateway }) {
  const network = `eip155:${chain.chainId}`;
  const partner = await createTestPartner(gateway);
  const { headers } = partner;

  /** A new merchant for each payment, whose account receives nothing else. */
  async function openMerchant(asset?: string) {
    recipients += 1;
    const { address } = privateKeyToAccount(keccak256(stringToBytes(`fault merchant ${recipients}`)));
    const merchant = { ...(await createTestMerchant(gateway, headers)), recipient: address };
    if (asset !== undefined) await register(merchant, asset);
    return merchant;
  }

  /** From now on the merchant is paid to its own account. */
  async function register(merchant: { readonly id: string; readonly recipient: Hex }, asset: string): Promise<void> {
    const response = await gateway.call({
      method: 'POST',
      url: `/v1/merchants/${merchant.id}/settlements/crypto`,
      headers: { ...headers, 'idempotency-key': freshKey() },
      payload: { settlements: [{ asset, destination: `${network}:${merchant.recipient}` }] },
    });
    assert.equal(response.statusCode, 201, response.body);
  }

  /** A created payment, and its recipient. */
  async function create({ asset = USDC, on = gateway, price = PRICE.value, isHeld = false } = {}) {
    const merchant = isHeld ? await openMerchant() : await openMerchant(asset);
    const response = await on.call({
      method: 'POST',
      url: '/v1/payments',
      headers: { ...headers, 'merchant-id': merchant.id, 'content-type': 'application/json' },
      payload: { amount: { ...PRICE, value: price }, referenceId: 'ORDER' },
    });
    assert.equal(response.statusCode, 201, response.body);
    return { id: response.json().paymentId as string, merchant, asset };
  }

  /** A payment whose payer has signed and not yet confirmed. */
  async function sign(terms: SignTerms = {}): Promise<SignedPayment> {
    const { asset = USDC, payer = chain.newPayer(), on = gateway, price = PRICE.value, isHeld = false } = terms;
    const wallet = walletOn(on, headers);
    const { id, merchant } = await create({ asset, on, price, isHeld });
    const account = `${network}:${payer.address}`;
    const list = () => patiently(() => wallet.options(id, [account]));
    const optionIn = (answer: { json(): { options: OptionBody[] } }) =>
      answer.json().options.find(({ amount }) => amount.unit === `caip19/${asset}`);
    let listed = await list();
    // An endpoint of a busy machine may answer too late once, and then offers nothing.
    if (optionIn(listed) === undefined) listed = await list();
    const option = optionIn(listed);
    assert.ok(option, `${asset} is not offered: ${listed.body}`);
    const results: ReturnType<typeof result>[] = [];
    for (const action of option.actions) {
      const { method, params } = action.type === 'build' ? readBuild(option) : action.data;
      results.push(result(await carryOut(chain, payer, { method, params })));
    }
    const amount = BigInt(option.amount.value);
    const confirm = (query = '', by: Wallet = wallet) => by.confirm(id, option.id, results, query);
    return { id, asset, amount, payer, merchant, recipient: merchant.recipient, confirm, option, results };
  }

  async function view({ id, merchant }: Pick<SignedPayment, 'id' | 'merchant'>, on = gateway) {
    const status = await on.call({ url: `/v1/gateway/payment/${id}/status`, headers });
    const details = await on.call({ url: `/v1/payments/${id}`, headers: { ...headers, 'merchant-id': merchant.id } });
    assert.equal(details.statusCode, 200, details.body);
    // The payment may move between the two, but not from its end.
    if (status.json().isFinal) assert.equal(status.json().status, details.json().status);
    return { ...details.json(), isFinal: status.json().isFinal } as {
      status: string;
      isFinal: boolean;
      failureCode?: string | null;
      info: { txId: string } | null;
      settlement: { successful: { txId: string } } | null;
    };
  }

  async function status(payment: Pick<SignedPayment, 'id' | 'merchant'>): Promise<string> {
    return (await view(payment)).status;
  }

  async function charged({ asset, payer }: SignedPayment): Promise<bigint> {
    return FUNDS - (await chain.balanceOf(tokenOf(asset), payer.address));
  }

  return {
    headers,
    register,
    create,
    sign,
    view,
    status,
    charged,
    wallet: walletOn(gateway, headers),

    /** A confirmed payment, in `processing`. */
    async pay(terms: SignTerms = {}): Promise<SignedPayment> {
      const payment = await sign(terms);
      const response = await patiently(() => payment.confirm());
      assert.equal(response.statusCode, 200, response.body);
      assert.equal(response.json().status, 'processing');
      return payment;
    },

    /** Mines until the payment has this status: as fast as possible, or a block every so often. */
    async reaches(payment: Pick<SignedPayment, 'id' | 'merchant'>, wanted: string, blockMs = 0): Promise<void> {
      let minedMs = Number.NEGATIVE_INFINITY;
      await until(
        `the payment is ${wanted}`,
        async () => {
          if ((await status(payment)) === wanted) return true;
          if (performance.now() - minedMs >= blockMs) {
            await chain.mine();
            minedMs = performance.now();
          }
          return false;
        },
        WITHIN,
      );
    },

    /** The guarantee of every row: charged once, paid once, and reported as paid. */
    async isPaidOnce(payment: SignedPayment): Promise<void> {
      const { asset, amount, recipient, id } = payment;
      const { status, isFinal, info, settlement } = await view(payment);
      assert.deepEqual({ status, isFinal }, { status: 'succeeded', isFinal: true });
      assert.equal(await charged(payment), amount, 'the payer is charged once');
      assert.equal(await chain.balanceOf(tokenOf(asset), recipient), amount, 'the merchant is paid once');
      const receipt = await chain.request<{ status: Hex } | null>('eth_getTransactionReceipt', info?.txId);
      assert.equal(receipt?.status, '0x1', 'the transaction that the API names is on the chain');
      assert.equal(settlement?.successful.txId, info?.txId);
      const events = await listEvents(gateway.db.sql, id);
      assert.equal(events.filter(({ type }) => type === 'payment.succeeded').length, 1, 'it has succeeded once');
    },

    /** The attempt has ended without a transfer, and the signature is unusable. */
    async isUnpaid(payment: SignedPayment, as: 'requires_action' | 'expired'): Promise<void> {
      const { status, isFinal, info, settlement } = await view(payment);
      const expected = { status: as, isFinal: as === 'expired', info: null, settlement: null };
      assert.deepEqual({ status, isFinal, info, settlement }, expected);
      assert.equal(await charged(payment), 0n, 'the payer keeps the money');
      assert.equal(await chain.balanceOf(tokenOf(payment.asset), payment.recipient), 0n);
      const [item] = await gateway.db.sql`select state, signature from items where subject = ${payment.id}`;
      assert.deepEqual({ ...item }, { state: 'unpaid', signature: null });
    },
  };
}

/** Retries as wallets do. */
async function patiently<T extends { statusCode: number; body: string }>(ask: () => Promise<T>): Promise<T> {
  let answer = await ask();
  await until(
    'the gateway is available',
    async () => {
      if (answer.statusCode === 503) answer = await ask();
      return answer.statusCode !== 503;
    },
    WITHIN,
  );
  assert.equal(answer.statusCode, 200, answer.body);
  return answer;
}

/** Carries out an action as a wallet does. */
async function carryOut(
  chain: FaultChain,
  payer: Payer,
  { method, params }: { method: string; params: readonly unknown[] },
): Promise<string> {
  if (method === 'eth_signTypedData_v4') return payer.signTypedData(JSON.parse(String(params[1])));
  const { to, data = '0x', value = '0x0' } = params[0] as { to: Hex; data?: Hex; value?: Hex };
  return chain.carryOut(payer, { to, data, value: BigInt(value) });
}

/** The payer cancels the authorization. */
export async function cancelAuthorization(chain: FaultChain, { payer, asset, option }: SignedPayment): Promise<void> {
  const { domain, types, message } = JSON.parse(String(readBuild(option).params[1]));
  const signature = await payer.signTypedData({
    domain,
    types: {
      EIP712Domain: types.EIP712Domain,
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: payer.address, nonce: message.nonce },
  });
  const args = [payer.address, message.nonce as Hex, signature] as const;
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'cancelAuthorization', args });
  await chain.carryOut(payer, { to: tokenOf(asset), data });
}

/** The payer uses the nonce of the authorization elsewhere. */
export async function spendElsewhere(
  chain: FaultChain,
  { payer, asset, option }: SignedPayment,
  { to, value }: { to: Hex; value: bigint },
): Promise<void> {
  const { domain, types, message } = JSON.parse(String(readBuild(option).params[1]));
  const authorization = { ...message, to, value: value.toString() };
  const signature = await payer.signTypedData({
    domain,
    types: { EIP712Domain: types.EIP712Domain, TransferWithAuthorization: types.ReceiveWithAuthorization },
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  });
  const { from, validAfter, validBefore, nonce } = message;
  const args = [from, to, value, BigInt(validAfter), BigInt(validBefore), nonce, signature] as const;
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: 'transferWithAuthorization', args });
  await chain.carryOut(payer, { to: tokenOf(asset), data });
}
