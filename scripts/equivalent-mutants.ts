const SAME_IF_EQUAL = 'Both branches give the same for equal values.';
const ABOVE_EVERY_AMOUNT = 'The steps only end a search without a result. Either bound is above every amount.';

/**
 * Mutants of `src/domain` that no test can notice, by file: the line as the mutant has it, and the reason. `mutate-domain.ts` reads
 * them, and refuses a row whose mutant does not exist any more or is noticed by a test.
 */
export const EQUIVALENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'fees.ts': {
    'return total <= amount ? total : amount;': SAME_IF_EQUAL,
    'return fixed <= total ? fixed : total;': SAME_IF_EQUAL,
    'for (let steps = 1; !covers(high) && steps < MAX_STEPS; steps += 1) high *= 2n;': ABOVE_EVERY_AMOUNT,
    'for (let steps = 0; !covers(high) && steps <= MAX_STEPS; steps += 1) high *= 2n;': ABOVE_EVERY_AMOUNT,
    'for (let steps = 0; !covers(high) && steps < MAX_STEPS; steps += 1) high *= 3n;': ABOVE_EVERY_AMOUNT,
    'const MAX_STEPS = 301;': ABOVE_EVERY_AMOUNT,
    'const listed = fixed.findLast((part) => part.unit.toLowerCase() === unit.toLowerCase());':
      'A unit is listed once: the command that sets fees refuses a second one.',
    'const { units, decimals } = parseDecimal(percentage) ?? { units: 0n, decimals: 1 };': 'Zero has any decimals.',
  },
};
