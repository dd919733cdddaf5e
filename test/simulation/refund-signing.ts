import { signingKeysOf } from '../../src/actions/outgoing/refund/signed/signing-keys.ts';
import { refundIdOf } from '../../src/domain/ids.ts';
import type { ItemKey } from '../../src/domain/item.ts';
import { signCode } from '../../src/domain/sign-code.ts';
import { createSecrets } from '../../src/runtime/secrets.ts';
import { findItems, signedItemOf } from '../../src/store/chain/items.ts';
import { controlOn } from './networks.ts';
import { MASTER_SECRET } from './node.ts';
import { request } from './requests.ts';
import { rest, type Shopping } from './shopping.ts';
import { Violation } from './stage.ts';

const SIGNING_KEYS = signingKeysOf(createSecrets([MASTER_SECRET]));

interface WalletAction {
  readonly data: {
    readonly method: 'eth_sendTransaction' | 'eth_signTypedData_v4';
    readonly params: readonly unknown[];
  };
}

/**
 * The merchant signs for refunds with the account that received the payment, while floats may arrive. Some signatures are of
 * another account, some are carried out by a stranger before they are returned, and some are never returned.
 */
export async function signForRefund(shopping: Shopping, paymentId: string): Promise<void> {
  const { random } = shopping;
  const refundId = refundIdOf(paymentId, random.pick([1, 1, 2]));
  await rest(shopping, random.below(15_000));
  for (let tries = 0; tries < 4; tries += 1) {
    const [asked] = await Promise.all(
      random.chance(0.3) ? [offer(shopping, refundId), offer(shopping, refundId)] : [offer(shopping, refundId)],
    );
    if (asked !== undefined) {
      await rest(shopping, random.below(10_000));
      if (asked.method === 'eth_sendTransaction') await payInCoin(shopping, refundId, asked);
      else await sign(shopping, refundId, asked);
      return;
    }
    await rest(shopping, random.between(1_000, 8_000));
  }
}

/** The last request to the wallet, and the same for everybody who asks. */
async function offer({ stage, by, random, headers }: Shopping, refundId: string) {
  const url = `/v1/gateway/refund/${signCode(SIGNING_KEYS, refundId)}/actions`;
  const answer = await request(stage, by, random, { method: 'POST', url, headers, payload: {} });
  if (answer?.status !== 200) return undefined;
  const { data } = (answer.body.actions as readonly WalletAction[]).at(-1) ?? {};
  return data;
}

async function sign(shopping: Shopping, refundId: string, { params }: WalletAction['data']): Promise<void> {
  const { random, stage } = shopping;
  const typed = String(params[1]);
  if (random.chance(0.2)) {
    const answer = await confirm(shopping, refundId, await random.pick(stage.payers).signTypedData(typed));
    if (answer?.status === 200 && answer.body.status === 'sending') {
      throw new Violation('cheats are refused', `${refundId} is paid by the signature of another account`);
    }
  }
  const signature = await stage.merchantAccount.signTypedData(typed);
  if (random.chance(0.15)) await relayAsStranger(shopping, refundId, signature);
  if (random.chance(0.1)) return;
  const send = () => confirm(shopping, refundId, signature);
  const answers = await Promise.all(random.chance(0.3) ? [send(), send()] : [send()]);
  // A merchant who was not answered may have the signature carried out by itself.
  if (answers.every((answer) => answer?.status !== 200) && random.chance(0.7)) {
    await relayAsStranger(shopping, refundId, signature);
  }
}

/** Whoever has the signature can have it carried out. */
async function relayAsStranger({ stage, by }: Shopping, refundId: string, signature: string): Promise<void> {
  const rows = await stage.sql<{ key: ItemKey }[]>`
    select commitment as key from items where subject = ${refundId} and state = 'offered'`;
  const [item] = await findItems(
    stage.sql,
    rows.map(({ key }) => key),
  );
  if (item === undefined) return;
  stage.scheduler.note(`${by.name}: has the signature for ${refundId} carried out by a stranger`);
  controlOn(stage, item.asset).relayAsStranger([signedItemOf({ ...item, signature })]);
}

async function payInCoin(shopping: Shopping, refundId: string, action: WalletAction['data']): Promise<void> {
  const { stage, by, random } = shopping;
  const hash = stage.control.send({ method: action.method, params: [...action.params] });
  stage.scheduler.note(`${by.name}: pays a refund in coin in ${hash.slice(0, 10)}`);
  if (random.chance(0.2)) return;
  for (let tries = 0; tries < 2; tries += 1) {
    await confirm(shopping, refundId, hash);
    await rest(shopping, random.between(1_000, 10_000));
  }
}

function confirm({ stage, by, random, headers }: Shopping, refundId: string, result: string) {
  const url = `/v1/gateway/refund/${signCode(SIGNING_KEYS, refundId)}/confirm`;
  return request(stage, by, random, { method: 'POST', url, headers, payload: { result } });
}
