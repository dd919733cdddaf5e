import { COIN, controlOn, networkOf, OTHER_TOKEN, tokensOn, USDC } from './networks.ts';
import { ask, rest, type Shopping } from './shopping.ts';
import { type Stage, Violation } from './stage.ts';

/** Pays with a wallet: the other way to pay. */
type Pay = (shopping: Shopping, paymentId: string) => Promise<void>;

interface Address {
  readonly asset: string;
  readonly address: string;
  readonly asked: bigint;
  readonly expiresAtMs: number;
}

/** The ways in which people get a transfer right or wrong. */
const PATTERNS = ['whole', 'parts', 'parts', 'less', 'more', 'twice', 'late', 'at_the_end', 'at_the_end'] as const;

/**
 * A payer who asks for an address and sends tokens to it from any wallet: all at once, in parts, too little, too much, twice,
 * in the last seconds, too late, or of another token. Some pay with a wallet as well, and some ask for an address of another
 * token or network besides, and send a part or all of the price there.
 */
export async function payByAddress(shopping: Shopping, paymentId: string, pay: Pay): Promise<void> {
  const { random, stage } = shopping;
  const asset = random.chance(0.5) ? USDC : random.pick(tokensOn(stage.networks));
  const found = await askForAddress(shopping, paymentId, asset);
  if (found === undefined) return pay(shopping, paymentId);
  if (random.chance(0.2)) stage.act(pay(shopping, paymentId));
  if (random.chance(0.2)) send(shopping, found, random.pick(strangeTo(shopping, found)), found.asked);
  if (random.chance(0.25)) stage.act(payElsewhere(shopping, paymentId, found));
  const pattern = random.pick(PATTERNS);
  shopping.stage.scheduler.note(`${shopping.by.name}: pays by address, ${pattern}`);
  await rest(shopping, random.below(8_000));
  if (pattern === 'late' || pattern === 'at_the_end') await waitForEnd(shopping, found, pattern === 'late');
  for (const units of amountsOf(shopping, pattern, found.asked)) {
    send(shopping, found, asset, units);
    if (random.chance(0.3)) await askForAddress(shopping, paymentId, asset);
    await rest(shopping, random.below(20_000));
  }
}

/** Assets that the terms of an address do not name, on its network. */
function strangeTo({ stage }: Shopping, { asset }: Address): readonly string[] {
  const others = networkOf(asset) === networkOf(USDC) ? [OTHER_TOKEN, COIN] : [];
  const tokens = tokensOn(stage.networks).filter((each) => each !== asset && networkOf(each) === networkOf(asset));
  return [...others, ...tokens];
}

/** A second address of the same payment, of another token or on another network. */
async function payElsewhere(shopping: Shopping, paymentId: string, first: Address): Promise<void> {
  const { random, stage } = shopping;
  const others = tokensOn(stage.networks).filter((asset) => asset !== first.asset);
  await rest(shopping, random.below(20_000));
  const found = await askForAddress(shopping, paymentId, random.pick(others));
  if (found === undefined) return;
  await rest(shopping, random.below(20_000));
  const [units = 0n] = amountsOf(shopping, random.pick(['parts', 'parts', 'whole', 'more']), found.asked);
  send(shopping, found, found.asset, units);
}

function amountsOf({ random }: Shopping, pattern: (typeof PATTERNS)[number], asked: bigint): readonly bigint[] {
  const share = (asked * BigInt(random.between(1, 99))) / 100n;
  switch (pattern) {
    case 'parts':
      return [share, asked - share];
    case 'less':
      return [asked - 1n];
    case 'more':
      return [asked + share];
    case 'twice':
      return [asked, asked];
    default:
      return [asked];
  }
}

/** Asks several times, perhaps at once and on several nodes. Every answer has the same terms. */
async function askForAddress(shopping: Shopping, paymentId: string, asset: string): Promise<Address | undefined> {
  const { random, stage } = shopping;
  const url = `/v1/gateway/payment/${paymentId}/address`;
  const key = `${paymentId} ${asset}`;
  const once = async () => {
    const answer = await ask(shopping, paymentId, { method: 'POST', url, payload: { asset } });
    if (answer?.status !== 200) return;
    const { address, amount, expiresAt } = answer.body;
    const terms = `${address} ${amount.value} ${expiresAt}`;
    const known = stage.addresses.get(key) ?? terms;
    if (known !== terms) throw new Violation('one address', `${paymentId} was answered ${known}, then ${terms}`);
    stage.addresses.set(key, terms);
  };
  for (let tries = 0; tries < 4 && !stage.addresses.has(key); tries += 1) {
    await Promise.all(random.chance(0.3) ? [once(), once()] : [once()]);
    await rest(shopping, 1_000);
  }
  return addressesOf(stage, paymentId).find((address) => address.asset === asset);
}

/** The addresses that a payer was told for a payment. */
export function addressesOf({ addresses }: Stage, paymentId: string): readonly Address[] {
  return [...addresses].flatMap(([key, terms]) => {
    const [of, asset = ''] = key.split(' ');
    const [account = '', value = '0', expiresAt = '0'] = terms.split(' ');
    const address = account.slice(networkOf(asset).length + 1);
    return of === paymentId ? [{ asset, address, asked: BigInt(value), expiresAtMs: Number(expiresAt) * 1000 }] : [];
  });
}

/** Waits until the last seconds of the payment, or until some seconds after it. */
async function waitForEnd({ stage, by, random }: Shopping, { expiresAtMs }: Address, isLate: boolean): Promise<void> {
  const atMs = expiresAtMs + (isLate ? random.between(1_000, 30_000) : random.between(-14_000, 3_000));
  await stage.scheduler.sleep(by, Math.max(0, atMs - stage.scheduler.nowMs()));
}

/** A plain transfer, as any wallet makes it. */
export function send({ stage, by, payer }: Shopping, { address }: Address, asset: string, units: bigint): void {
  if (units <= 0n) return;
  const to = asset.slice(asset.lastIndexOf(':') + 1);
  const words = [address.slice(2), units.toString(16)].map((word) => word.toLowerCase().padStart(64, '0'));
  const call =
    asset === COIN
      ? { from: payer.address, to: address, value: `0x${units.toString(16)}` }
      : { from: payer.address, to, data: `0xa9059cbb${words.join('')}` };
  const hash = controlOn(stage, asset).send({ method: 'eth_sendTransaction', params: [call] });
  stage.scheduler.note(`${by.name}: sends ${units} of ${asset} to an address in ${hash.slice(0, 10)}`);
}
