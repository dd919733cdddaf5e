// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts are lines of source code

/** A changed line of the functions of money (`src/domain/money`), which one of their tests must notice. */
export interface MoneyMutant {
  readonly name: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export const MONEY_MUTANTS: readonly MoneyMutant[] = [
  {
    name: 'amounts of two assets are added',
    file: 'holding.ts',
    from: 'return `${payment} ${network} ${asset} ${account}`;',
    to: 'return `${payment} ${network.slice(0, 6)} ${asset.slice(0, 0)} ${account}`;',
  },
  { name: 'a lot is spent twice', file: 'holding.ts', from: 'lot.net - (spent.get(lot.id) ?? 0n)', to: 'lot.net' },
  { name: 'a debt is forgotten', file: 'holding.ts', from: 'amount: before + over }', to: 'amount: before }' },
  {
    name: 'a fee is rounded up',
    file: 'fee-share.ts',
    from: '(fee * units) / of',
    to: '(fee * units + of - 1n) / of',
  },
  {
    name: 'the fee grows with what was not asked',
    file: 'fee-share.ts',
    from: 'units >= schedule.of ? schedule.fee :',
    to: 'units < 0n ? schedule.fee :',
  },
  {
    name: 'late money counts',
    file: 'fold.ts',
    from: "return blockTimeS <= way.deadlineS ? 'counting' : 'late';",
    to: "return blockTimeS <= 2 * way.deadlineS ? 'counting' : 'late';",
  },
  {
    name: 'money of listed senders counts',
    file: 'fold.ts',
    from: "if (isScreened) return 'screened';",
    to: "if (isScreened && blockTimeS > way.deadlineS) return 'screened';",
  },
  {
    name: 'a wrong token counts',
    file: 'fold.ts',
    from: 'way.network !== network || way.asset !== asset',
    to: 'way.network !== network',
  },
  {
    name: 'the rest of the movement that fills is forgotten',
    file: 'fold.ts',
    from: 'if (rest.amount > 0n) join',
    to: 'if (rest.amount > 100n) join',
  },
  {
    name: 'ids depend on the block',
    file: 'fold.ts',
    from: '`${network}/${fact.transaction}/${address}',
    to: '`${network}/${fact.block}/${address}',
  },
  {
    name: 'a second collection of a commitment is the same lot',
    file: 'fold.ts',
    from: 'const id = `${network}/${commitment}/${nth}`;',
    to: 'const id = `${network}/${commitment}/${nth - nth}`;',
  },
  {
    name: 'a second collection of a commitment counts',
    file: 'fold.ts',
    from: 'if (nth === 0 && kind',
    to: 'if (kind',
  },
  {
    name: 'more than the ending says pays',
    file: 'fold.ts',
    from: 'splitOverpayment(part.amount, ending.amount - work.paid)',
    to: 'splitOverpayment(part.amount, part.amount)',
  },
  {
    name: 'a sweep moves one lot alone',
    file: 'fold.ts',
    from: 'if (left > 0n) move',
    to: 'if (left > 0n && moved === 0n) move',
  },
  {
    name: 'a sweep moves lots of other assets',
    file: 'fold.ts',
    from: 'lot.network === network && lot.asset === asset,',
    to: 'lot.network === network,',
  },
  {
    name: 'a fact that is read twice counts twice',
    file: 'fold.ts',
    from: 'compareMoments(work.upTo, fact) >= 0',
    to: 'compareMoments(work.upTo, fact) > 0',
  },
  {
    name: 'facts are folded in the order of reading',
    file: 'fold.ts',
    from: 'facts.toSorted(compareMoments)',
    to: 'facts.filter((each) => compareMoments(each, each) === 0)',
  },
  {
    name: 'an end has two owners',
    file: 'owner.ts',
    from: '  if (explained !== undefined) return explained;\n  const isBetween',
    to: '  if (explained !== undefined) return [...explained, wholeOf(leg, NOBODY)];\n  const isBetween',
  },
  {
    name: "a stranger's item is ours by its subject",
    file: 'owner.ts',
    from: 'items.has(knownKey(network, commitment)) ?',
    to: 'items.has(knownKey(network, commitment)) || commitment.length > 0 ?',
  },
  {
    name: 'transfers by the Collector to a deposit address are dropped',
    file: 'owner.ts',
    from: 'if (commitment !== undefined) return [wholeOf',
    to: "if (commitment !== undefined) return leg.from === 'collector' ? [] : [wholeOf",
  },
  {
    name: 'tolerance counts before the deadline',
    file: 'judge.ts',
    from: 'terms.ways.filter(isOver)',
    to: 'terms.ways',
  },
  {
    name: 'a payout begins before the ending',
    file: 'money-out.ts',
    from: 'if (ending === undefined) return [];',
    to: "if (ending === undefined && holdings.lots.some(({ reason }) => reason === 'late')) return [];",
  },
  {
    name: 'a refund does not wait for the sweep',
    file: 'money-out.ts',
    from: "if (paying.some(({ isHeld, waiting }) => isHeld && waiting > 0n)) return { is: 'waiting', for: 'sweep' };",
    to: '',
  },
  {
    name: 'money that paid is held back by the minimum',
    file: 'money-out.ts',
    from: '(settles === 0n && amount < rules.minimum(first.asset))',
    to: '(amount < rules.minimum(first.asset))',
  },
  {
    name: 'dust holds up the return of a lot',
    file: 'money-out.ts',
    from: 'if (lot.waiting === lot.amount) return',
    to: 'if (lot.waiting > 0n) return',
  },
  {
    name: 'a payout of a lot that grew has the id of the first one',
    file: 'money-out.ts',
    from: 'bytes[bytes.length - 1] = number;',
    to: 'bytes[bytes.length - 1] = number - number;',
  },
  {
    name: 'the fee of a refund is taken from the lots of the merchant',
    file: 'money-out.ts',
    from: 'take(fit, amount - fee, {',
    to: 'take(fit, amount + fee - fee, {',
  },
  {
    name: 'the books forget a debt',
    file: 'position-entries.ts',
    from: 'for (const debt of debts) {',
    to: 'for (const debt of debts.slice(0, 0)) {',
  },
  {
    name: 'the books are booked again instead of their difference',
    file: 'position-entries.ts',
    from: '(before.get(key)?.lines ?? []).map',
    to: '(before.get(`${key} `)?.lines ?? []).map',
  },
];
