import { useMemo } from 'react';
import { clamp } from '../../shared/text.ts';
import { useMerchantList } from '../queries.ts';
import { type MerchantBoxProps, MerchantSearch } from './merchant-search.tsx';

/** A choice of a merchant: a select box if one page has all merchants, else a field that searches for them. */
export function MerchantBox(props: MerchantBoxProps) {
  const { id, value, all, onChange } = props;
  const { merchants, isAll } = useMerchantList();
  // The options are memoized, so that a hundred merchants are not rendered again with each change of a filter.
  const options = useMemo(
    () =>
      merchants?.map((each) => (
        <option key={each.id} value={each.id}>
          {clamp(each.name, 40)}
        </option>
      )),
    [merchants],
  );
  if (merchants !== undefined && !isAll) return <MerchantSearch {...props} />;
  return (
    <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
      {all !== undefined && <option value="">{all}</option>}
      {options}
    </select>
  );
}
