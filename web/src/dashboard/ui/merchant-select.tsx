import { useState } from 'react';
import { useMerchantList, useSession } from '../queries.ts';
import { useWords } from '../words.ts';
import { MerchantBox } from './merchant-box.tsx';
import { Field } from './parts.tsx';

/**
 * The selected merchant, and its select box, on a page that shows one merchant. `isNone` is true if the partner has no merchant.
 * `error` is set if the merchants cannot be read.
 */
export function useMerchantChoice() {
  const words = useWords();
  const { merchant } = useSession();
  const { merchants, error } = useMerchantList();
  const [chosen, setChosen] = useState<string>();
  const merchantId = merchant?.id ?? chosen ?? merchants?.[0]?.id;
  const select = merchant === null && merchants !== undefined && merchants.length > 1 && (
    <Field label={words.merchant}>
      {(id) => <MerchantBox id={id} value={merchantId ?? ''} onChange={setChosen} />}
    </Field>
  );
  return { merchantId, select, isNone: merchantId === undefined && merchants?.length === 0, error };
}
