import { useState } from 'react';
import { useSession } from '../queries.ts';
import { MerchantBox } from './merchant-box.tsx';
import { Field } from './parts.tsx';

interface MerchantFieldProps {
  readonly label: string;
  readonly all: string;
}

/** A choice of one merchant or all, as the form's field `merchant`. Hidden for people of one merchant. */
export function MerchantField({ label, all }: MerchantFieldProps) {
  const { merchant } = useSession();
  const [merchantId, setMerchantId] = useState('');
  if (merchant !== null) return null;
  return (
    <Field label={label}>
      {(id) => (
        <>
          <MerchantBox id={id} value={merchantId} all={all} onChange={setMerchantId} />
          <input type="hidden" name="merchant" value={merchantId} />
        </>
      )}
    </Field>
  );
}
