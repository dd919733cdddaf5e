import { parseUnit } from '../chains/units.ts';
import type { RefundLimit } from '../domain/role.ts';
import { type Kind, Problem } from './kinds.ts';

export const emailAddress: Kind<string> = {
  placeholder: 'e-mail',
  parse: (raw) =>
    /^[^\s@\p{Cc}\p{Cs}]{1,64}@[^\s@\p{Cc}\p{Cs}]{1,189}$/u.test(raw) ? raw : new Problem('must be an e-mail address'),
};

/** `iso4217/USD=10000`: a unit and an amount in minor units. */
export const amountIn: Kind<RefundLimit> = {
  placeholder: 'unit=amount',
  parse: (raw) => {
    const split = raw.lastIndexOf('=');
    const unit = parseUnit(raw.slice(0, Math.max(split, 0)));
    const value = raw.slice(split + 1);
    if (split < 0 || !/^(0|[1-9][0-9]{0,77})$/.test(value)) {
      return new Problem('must be a unit and an amount in its minor units, such as iso4217/USD=10000 for 100.00 USD');
    }
    return unit.ok ? { unit: unit.value.id, value } : new Problem(`has a unit that ${unit.problem}`);
  },
};
