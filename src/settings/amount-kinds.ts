import { parseUnit } from '../chains/units.ts';
import type { RefundLimit } from '../domain/role.ts';
import { type Kind, Problem, quote } from './kinds.ts';

/** Amounts in minor units, one for each currency. */
export function amounts(): Kind<readonly RefundLimit[]> {
  return {
    name: 'list of amounts in minor units, such as `iso4217/USD=10000,iso4217/EUR=10000`',
    parse: (raw, registry) => {
      const list = raw.split(',').map((part) => part.trim().split('='));
      const wrong = list.find(([unit = '', value = '', ...more]) => {
        return !parseUnit(registry, unit).ok || !/^(0|[1-9][0-9]{0,77})$/.test(value) || more.length > 0;
      });
      if (wrong !== undefined)
        return new Problem(`must list amounts in minor units, and ${quote(wrong.join('='))} is none`);
      return list.map(([unit = '', value = '']) => ({ unit, value }));
    },
    show: (value) => value.map(({ unit, value: amount }) => `${unit}=${amount}`).join(','),
  };
}
