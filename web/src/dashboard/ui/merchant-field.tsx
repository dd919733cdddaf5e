import { clamp } from '../../shared/text.ts';
import { useMerchants, useSession } from '../queries.ts';
import { Field } from './parts.tsx';

interface MerchantFieldProps {
  readonly label: string;
  readonly all: string;
}

/** A choice of one merchant or all, as the form's field `merchant`. Hidden for people of one merchant. */
export function MerchantField({ label, all }: MerchantFieldProps) {
  const merchants = useMerchants();
  const { merchant } = useSession();
  if (merchant !== null) return null;
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} name="merchant">
          <option value="">{all}</option>
          {merchants.map((each) => (
            <option key={each.id} value={each.id}>
              {clamp(each.name, 40)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
