-- Without a transaction: payments move while the indexes are built. An index that a crash left half built is built again.
-- The days of one customer, for time ranges. The primary key has the customers of one day.
drop index concurrently if exists payment_day_customers_by_customer;
create index concurrently payment_day_customers_by_customer on payment_day_customers (merchant_id, buyer_account, day);
-- The refunds of a merchant's payments of some hours.
drop index concurrently if exists refunds_of_payments;
create index concurrently refunds_of_payments on refunds (merchant_id, payment_id) where state = 'refunded';
