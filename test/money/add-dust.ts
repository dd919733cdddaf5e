import type { Arrived, Fact } from '../../src/domain/money/fact.ts';
import type { PaymentTerms } from '../../src/domain/money/terms.ts';

/**
 * The facts as the database reads them: dust at an address joins the arrival before it in its line if that is dust, too, and no sweep of
 * the asset is between them.
 */
export function withDustAdded({ ways, dustBelow }: PaymentTerms, facts: readonly Fact[]): Fact[] {
  const added: Fact[] = [];
  const dust = new Map<string, number>();
  for (const fact of facts) {
    if (fact.is !== 'arrived') {
      if (fact.is === 'swept') {
        for (const line of dust.keys()) {
          if (line.startsWith(`${fact.network} ${fact.commitment} ${fact.asset} `)) dust.delete(line);
        }
      }
      added.push(fact);
      continue;
    }
    const { network, commitment, asset, isScreened, blockTimeS, amount } = fact;
    const isInTime = ways.some((way) => way.commitment === commitment && blockTimeS <= way.deadlineS);
    const line = [network, commitment, asset, isScreened, isInTime].join(' ');
    const isDust = amount < (dustBelow[asset] ?? 0n);
    const at = isDust ? dust.get(line) : undefined;
    if (at !== undefined) {
      const before = added[at] as Arrived;
      added[at] = { ...before, amount: before.amount + amount };
      continue;
    }
    if (isDust) dust.set(line, added.length);
    else dust.delete(line);
    added.push(fact);
  }
  return added;
}
