import type { Item, ItemKey } from '../../src/domain/item.ts';
import { headerText, type Requirement } from '../../src/domain/x402.ts';
import { findItems, itemOf } from '../../src/store/chain/items.ts';
import { findAsset } from '../registry.ts';
import { TRANSFER_AUTHORIZATION } from '../transfer-authorization.ts';
import { networkNamed } from './networks.ts';
import type { Payer } from './parties.ts';
import type { Answer } from './requests.ts';
import { ask, rest, type Shopping } from './shopping.ts';
import { type Stage, Violation } from './stage.ts';

/** An authorization that a program has signed. */
interface Signed {
  readonly accepted: Requirement;
  readonly header: string;
  readonly nonce: string;
  readonly validBeforeS: number;
  readonly signature: string;
}

const MAX_REQUESTS = 14;
/** Less is refused: the gateway might not get it mined in time. */
const SHORT_LIFE_S = 26;
/** An authorization with less time left may be refused before the transaction of a stranger is mined. */
const PRESENTED_LIFE_MS = 60_000;

/**
 * A program that pays by x402, and does what the answers say: it signs when it is asked to pay (402), and repeats its request
 * after every other answer and after none, with its header or without. Some lie first. Strangers present some of the
 * authorizations to the token, before the gateway gets them or after it has taken them. A program that is not alone has a wallet
 * beside it, which may pay as well.
 */
export async function payByX402(shopping: Shopping, paymentId: string, isAlone: boolean): Promise<void> {
  const { random, stage } = shopping;
  if (isAlone) stage.agents.reported.set(paymentId, []);
  await rest(shopping, random.below(10_000));
  let signed: Signed | undefined;
  let isPresented = false;
  for (let asked = 0; asked < MAX_REQUESTS; asked += 1) {
    // Nobody but the payer knows of an authorization that a stranger has presented, so its request is repeated as it was.
    const isRepeated = signed !== undefined && (isPresented || random.chance(0.7));
    const answers = await Promise.all(
      Array.from({ length: random.chance(0.2) ? 2 : 1 }, () =>
        send(shopping, paymentId, isRepeated ? signed?.header : undefined),
      ),
    );
    const answer = answers.find((each) => each !== undefined);
    if (answer?.status === 200 || answer?.status === 410 || answer?.status === 400) return;
    if (answer?.status === 402) {
      const accepted = random.pick(answer.body.accepts as Requirement[]);
      if (random.chance(0.3) && (await lie(shopping, paymentId, accepted))) return;
      signed = await sign(shopping, accepted);
      const leftMs = signed.validBeforeS * 1000 - stage.scheduler.nowMs();
      isPresented = leftMs > PRESENTED_LIFE_MS && random.chance(0.15) && (await present(shopping, paymentId, signed));
    } else {
      if (signed !== undefined && random.chance(0.15)) await presentTaken(shopping, paymentId, signed);
      await rest(shopping, random.between(500, 9_000));
    }
  }
}

/** The header belongs to the request alone, and a program has no key. */
async function send(shopping: Shopping, paymentId: string, header?: string): Promise<Answer | undefined> {
  const { stage } = shopping;
  const reorgs = stage.faults.get('reorg');
  const headers: Record<string, string> = header === undefined ? {} : { 'payment-signature': header };
  const answer = await ask(shopping, paymentId, { url: `/x402/${paymentId}`, headers });
  const text = answer?.headers['payment-response'];
  if (typeof text === 'string') await checkResponse(shopping, paymentId, { text, reorgs });
  return answer;
}

/** `PAYMENT-RESPONSE` names a transfer of the payer that the chain shows, unless a block was undone meanwhile. */
async function checkResponse(
  { stage, payer }: Shopping,
  paymentId: string,
  { text, reorgs }: { readonly text: string; readonly reorgs: number | undefined },
): Promise<void> {
  const reported = JSON.parse(Buffer.from(text, 'base64').toString()) as Record<string, string>;
  const transfers = await transfersFor(stage, paymentId);
  const isShown = transfers.some(
    ({ transactionHash, from, amount }) =>
      transactionHash === reported.transaction && from === reported.payer && String(amount) === reported.amount,
  );
  const isSame = reorgs === stage.faults.get('reorg');
  if (reported.payer !== payer.address || (isSame && !isShown)) {
    throw new Violation(
      'x402 answers are true',
      `${paymentId} is not paid by ${reported.payer} in ${reported.transaction}`,
    );
  }
  if (reported.transaction !== undefined) stage.agents.reported.get(paymentId)?.push(reported.transaction);
}

/** The transfers to the deposit addresses of a payment that the chain shows. */
export async function transfersFor({ sql, networks }: Stage, paymentId: string) {
  const rows = await sql<{ address: string }[]>`select address from deposits where payment_id = ${paymentId}`;
  const addresses = new Set(rows.map(({ address }) => address));
  const shown = networks.map(async ({ connected: { chain } }) =>
    chain.reader.incoming(addresses, 0, (await chain.reader.head()).number),
  );
  return (await Promise.all(shown)).flat();
}

interface Bent {
  readonly signer?: Payer;
  readonly value?: string;
  readonly nonce?: string;
  readonly lifeS?: number;
}

async function sign({ stage, random, payer }: Shopping, accepted: Requirement, bent: Bent = {}): Promise<Signed> {
  const { network, asset, payTo, amount, maxTimeoutSeconds, extra } = accepted;
  const longest = Math.max(SHORT_LIFE_S, maxTimeoutSeconds);
  const { signer = payer, value = amount, lifeS = random.pick([SHORT_LIFE_S, 40, longest, longest]) } = bent;
  const nonce = bent.nonce ?? `0x${Buffer.from(random.bytes(32)).toString('hex')}`;
  const validBeforeS = Math.floor(stage.scheduler.nowMs() / 1000) + lifeS;
  const authorization = {
    from: payer.address,
    to: payTo,
    value,
    validAfter: '0',
    validBefore: String(validBeforeS),
    nonce,
  };
  const typed = {
    domain: {
      name: extra.name,
      version: extra.version,
      chainId: Number(network.split(':')[1]),
      verifyingContract: asset,
    },
    types: TRANSFER_AUTHORIZATION,
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  };
  const signature = await stage.driver.busy(signer.signTypedData(JSON.stringify(typed)));
  stage.agents.nonces.push({ payer: payer.address, nonce });
  const header = headerText({ x402Version: 2, accepted, payload: { authorization, signature } });
  return { accepted, header, nonce, validBeforeS, signature };
}

/**
 * A wrong amount, a signature of somebody else and one that has run out are refused. A nonce that is used up pays nothing, but a nonce
 * of a signature that was refused pays: then the answer is 200, and the program is done. True if so.
 */
async function lie(shopping: Shopping, paymentId: string, accepted: Requirement): Promise<boolean> {
  const { stage, random, payer } = shopping;
  const others = stage.payers.filter(({ address }) => address !== payer.address);
  const spent = stage.agents.nonces.filter((each) => each.payer === payer.address);
  const lies: readonly Bent[] = [
    { value: String(BigInt(accepted.amount) - 1n) },
    { value: String(BigInt(accepted.amount) + 1n) },
    { signer: random.pick(others) },
    { lifeS: -5 },
    ...(spent.length > 0 ? [{ nonce: random.pick(spent).nonce }] : []),
  ];
  const bent = random.pick(lies);
  const { header } = await sign(shopping, accepted, bent);
  const answer = await send(shopping, paymentId, header);
  stage.scheduler.note(`a lie by x402 (${Object.keys(bent)}) was answered ${answer?.status}`);
  // A used nonce may have been used for this payment, which only a final block disproves.
  if (bent.nonce !== undefined) return answer?.status === 200;
  if (answer?.status !== 200 || answer.headers['payment-response'] === undefined) return false;
  throw new Violation(
    'cheats are refused',
    `${paymentId} is paid by an authorization with a wrong ${Object.keys(bent)}`,
  );
}

/** A stranger presents an authorization that the gateway has taken. */
async function presentTaken(shopping: Shopping, paymentId: string, signed: Signed): Promise<void> {
  const rows = await shopping.stage.sql`
    select from items where subject = ${paymentId} and authorization_terms ->> 'nonce' = ${signed.nonce}`;
  if (rows.length > 0) await present(shopping, paymentId, signed);
}

/** A stranger presents the authorization to the token, and perhaps sweeps the address as well. */
async function present({ stage, random, by, payer }: Shopping, paymentId: string, signed: Signed): Promise<boolean> {
  const { sql, scheduler } = stage;
  const { network, asset, payTo } = signed.accepted;
  const rows = await sql<{ key: ItemKey }[]>`
    select item as key from deposits
    where payment_id = ${paymentId} and network = ${network} and address = ${payTo} and asset like ${`%:${asset}`}`;
  const [stored] = await findItems(
    sql,
    rows.map(({ key }) => key),
  );
  if (stored === undefined) return false;
  const { control, connected } = networkNamed(stage, network);
  const isVrs = findAsset(stored.asset)?.pay?.method === 'eip3009-vrs';
  const item: Item = {
    ...itemOf(stored),
    method: isVrs ? 'deposit-vrs' : 'deposit-bytes',
    payer: payer.address,
    deadlineS: signed.validBeforeS,
    authorization: { nonce: signed.nonce, validAfterS: 0 },
  };
  const commitment = connected.chain.payerSide.commitmentOf(item);
  const presented = { item, commitment, signature: signed.signature, hasCode: false };
  scheduler.note(`${by.name}: has an authorization for ${paymentId} presented by a stranger`);
  if (random.chance(0.5)) control.authorizeAsStranger(presented);
  else control.relayAsStranger([presented]);
  return true;
}
