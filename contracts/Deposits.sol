// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Batch} from "./Batch.sol";

/**
 * Deposit addresses: each payment has addresses of its own, and money that arrives there can be swept to the recipient and
 * the fee account of that payment, and nowhere else. Anybody may sweep, as often as needed. There is no owner, no setting
 * and no key.
 *
 * An address is the CREATE2 address of a minimal proxy (ERC-7511) of this contract. Its salt is the commitment: the hash of
 * asked token, fee account, subject, recipient, asked amount and fee. A sweep names these terms; other terms have another
 * address. The proxy is created by the first sweep, and obeys only this contract. The chain is no part of the terms, so
 * money that was sent on a wrong chain can be swept there.
 */
contract Deposits is Batch {
    /**
     * An amount of a token left the deposit address of these terms: the fee to the fee account, the rest to the recipient.
     * The commitment is the hash of the six words after it. The token is the zero address for native coin.
     *
     * The event proves this amount and no payment: anybody may sweep a part, and choose terms with any subject.
     */
    event Swept(
        bytes32 indexed commitment,
        address askedToken,
        address feeAccount,
        bytes32 subject,
        address recipient,
        uint256 asked,
        uint256 askedFee,
        address token,
        uint256 amount,
        uint256 fee
    );

    error MalformedItems();

    // Reasons of items that are not swept.
    error ImpossibleTerms();
    error NothingThere();
    error NotCreated();
    error NotAuthorized();

    /// Sweeps the balance of the address, or first takes the payer's authorization in one of its two forms.
    enum Kind {
        Balance,
        Key,
        Wallet
    }

    /// One item, unpacked. Its commitment is the hash of the first six words.
    struct Order {
        address askedToken;
        address feeAccount;
        bytes32 subject;
        address recipient;
        uint256 asked;
        uint256 askedFee;
        bytes32 commitment;
        address token;
        Kind kind;
    }

    /// The selector and four words, or three for items with an authorization. The items follow.
    uint256 private constant ARGUMENT_BYTES = 132;
    uint256 private constant AUTHORIZED_ARGUMENT_BYTES = 100;

    /// Packed: subject 32, recipient 20, asked amount 16, fee 16 bytes.
    uint256 private constant TERMS_BYTES = 84;

    /// With an authorization also: payer 20, start 5, end 5, nonce 32, length of the signature 2 bytes. The signature follows.
    uint256 private constant AUTHORIZED_BYTES = 148;

    /// The words of an `Order`, and the words that its commitment covers.
    uint256 private constant ORDER_BYTES = 288;
    uint256 private constant COMMITTED_BYTES = 192;

    /// The words of `Swept` besides its commitment.
    uint256 private constant EVENT_BYTES = 288;

    /// The gas that is kept for the rest of a sweep while the fee account is paid.
    uint256 private constant RESERVED_GAS = 40_000;

    /// No transfer needs as much. One that fails with it fails for another reason than its gas.
    uint256 private constant ENOUGH_GAS = 500_000;

    // The creation code of a minimal proxy (ERC-7511) is the head, the address of this contract and the tail.
    uint256 private constant PROXY_HEAD = 0x602c8060095f395ff3365f5f375f5f365f73;
    uint256 private constant PROXY_TAIL = 0x5af43d5f5f3e5f3d91602a57fd5bf3;
    uint256 private constant PROXY_BYTES = 53;

    address private immutable self = address(this);

    bytes32 private immutable proxyHash =
        keccak256(abi.encodePacked(bytes18(uint144(PROXY_HEAD)), address(this), bytes15(uint120(PROXY_TAIL))));

    /**
     * Only proxies use it: the fee of each token that the fee account could not take, for example because the token has
     * blacklisted it. The fee stays at the address, and the next sweep tries it again.
     */
    mapping(address token => uint256 units) public owedFee;

    /**
     * Sweeps `token`, or native coin for the zero address, from the deposit addresses of the packed items that follow the
     * arguments. All of them were made for `askedToken`, which is `token` unless somebody sent the wrong one, and share a fee
     * account. A failed item is undone alone, its proxy included. Each may use `itemGas`; the call reverts as a whole before
     * it starts an item with less gas.
     *
     * @return refusals for each item that was not swept: its index in 2 bytes, the length of the reason in 2, the reason.
     */
    function sweep(address token, address askedToken, address feeAccount, uint256 itemGas)
        external
        returns (bytes memory)
    {
        return _sweepAll(Kind.Balance, token, askedToken, feeAccount, itemGas, msg.data[ARGUMENT_BYTES:]);
    }

    /**
     * Pulls the asked amounts of packed items to their deposit addresses, by authorizations that payers signed with their
     * keys (EIP-3009), and sweeps the addresses. A failed item is undone alone, so its payer keeps the money.
     *
     * An authorization names the deposit address and nothing else, so anybody may present it to the token first. Then the
     * money is at its address already, and it is swept all the same.
     */
    function sweepByKey(address token, address feeAccount, uint256 itemGas) external returns (bytes memory) {
        return _sweepAll(Kind.Key, token, token, feeAccount, itemGas, msg.data[AUTHORIZED_ARGUMENT_BYTES:]);
    }

    /// The same with signatures of any length, for tokens whose EIP-3009 supports wallet contracts (ERC-1271) too.
    function sweepByWallet(address token, address feeAccount, uint256 itemGas) external returns (bytes memory) {
        return _sweepAll(Kind.Wallet, token, token, feeAccount, itemGas, msg.data[AUTHORIZED_ARGUMENT_BYTES:]);
    }

    /**
     * One item: take the authorization if there is one, then sweep the address. The contract calls this on itself, so that
     * the EVM undoes a failed item.
     */
    function carryOut(Order calldata order, bytes calldata authorization) external {
        require(msg.sender == address(this), NotForYou());
        require(order.asked > 0 && order.askedFee <= order.asked, ImpossibleTerms());
        address deposit = _addressOf(order.commitment);
        address token = order.token;
        uint256 held;
        if (order.kind == Kind.Balance) {
            held = _heldBy(token, deposit);
            require(held > 0, NothingThere());
        } else {
            held = _takeAuthorization(order, authorization, deposit);
        }
        bool isNew = deposit.code.length == 0;
        if (isNew) require(_create(order.commitment), NotCreated());
        uint256 owed = isNew ? 0 : Deposits(deposit).owedFee(token);

        // More than 16 bytes can count is swept in parts. So no product overflows, and a fee is at most its amount.
        unchecked {
            uint256 amount = held > type(uint128).max ? type(uint128).max : held;
            if (owed > amount) owed = amount;
            uint256 fee = owed + _feeOf(order, amount - owed);
            uint256 unpaid = Deposits(deposit).payOut(token, order.feeAccount, fee, order.recipient, amount - fee, owed);
            // A token may lie. Coin cannot, and a receiver could lock it by forcing some of it back.
            require(token == address(0) || _balance(token, deposit) == held - amount + unpaid, WrongPayout());
            _tell(order, amount - unpaid, fee - unpaid);
        }
    }

    /**
     * Pays out, in the context of a proxy: the net amount, the fee, and nothing else. The recipient gets the net amount even
     * if the fee account cannot be paid.
     *
     * @return unpaid the fee, if the fee account could not be paid.
     */
    function payOut(address token, address feeAccount, uint256 fee, address recipient, uint256 net, uint256 owed)
        external
        returns (uint256 unpaid)
    {
        require(msg.sender == self, NotForYou());
        if (net > 0 && !_payOne(token, recipient, net, gasleft())) revert PayoutFailed(_returned());
        if (fee > 0) {
            uint256 gasBefore = gasleft();
            require(gasBefore > RESERVED_GAS, OutOfGas());
            uint256 given = gasBefore - RESERVED_GAS;
            if (!_payOne(token, feeAccount, fee, given)) {
                // The caller chooses the gas. A fee that fails for lack of gas would let recipients avoid it.
                require(given >= ENOUGH_GAS || !_isSpent(gasBefore, given), OutOfGas());
                if (net == 0) revert PayoutFailed(_returned());
                unpaid = fee;
            }
        }
        if (unpaid != owed) owedFee[token] = unpaid;
    }

    function _sweepAll(
        Kind kind,
        address token,
        address askedToken,
        address feeAccount,
        uint256 itemGas,
        bytes calldata items
    ) private once returns (bytes memory refusals) {
        // A proxy runs this code too, and sweeps nothing.
        require(address(this) == self, NotForYou());
        uint256 neededGas = _neededGas(itemGas);
        uint256 index = 0;
        refusals = new bytes(0);
        for (uint256 offset = 0; offset < items.length; ++index) {
            (Order memory order, uint256 size) = _unpack(kind, token, askedToken, feeAccount, items, offset);
            offset += size;
            require(offset <= items.length, MalformedItems());
            uint256 gasBefore = gasleft();
            require(gasBefore > neededGas, NotEnoughGas());
            if (!_attempt(order, size - TERMS_BYTES, itemGas)) {
                bool isSpent = _isSpent(gasBefore, itemGas);
                _append(refusals, index, isSpent ? abi.encodeWithSelector(OutOfGas.selector) : _returned());
            }
        }
    }

    /**
     * Reads the packed item at `offset`. In memory the order lies between the selector of `carryOut` and the authorization.
     * The three together are the calldata that `_attempt` sends. The Collector has a function of its own for its other terms: one
     * function for both would read the offsets from memory, for each item.
     */
    function _unpack(
        Kind kind,
        address token,
        address askedToken,
        address feeAccount,
        bytes calldata items,
        uint256 offset
    ) private pure returns (Order memory order, uint256 size) {
        uint256 selector = uint32(this.carryOut.selector);
        bool isAuthorized = kind != Kind.Balance;
        assembly ("memory-safe") {
            let packed := add(items.offset, offset)
            size := TERMS_BYTES
            if isAuthorized { size := add(AUTHORIZED_BYTES, shr(240, calldataload(add(packed, 146)))) }
            let authorizationBytes := sub(size, TERMS_BYTES)

            order := add(mload(0x40), 0x20)
            mstore(0x40, add(order, add(ORDER_BYTES, add(0x40, authorizationBytes))))
            mstore(sub(order, 0x20), selector)
            mstore(order, askedToken)
            mstore(add(order, 0x20), feeAccount)
            mstore(add(order, 0x40), calldataload(packed))
            mstore(add(order, 0x60), shr(96, calldataload(add(packed, 32))))
            mstore(add(order, 0x80), shr(128, calldataload(add(packed, 52))))
            mstore(add(order, 0xa0), shr(128, calldataload(add(packed, 68))))
            mstore(add(order, 0xc0), keccak256(order, COMMITTED_BYTES))
            mstore(add(order, 0xe0), token)
            mstore(add(order, 0x100), kind)
            // The authorization is the second argument: offset, length, bytes.
            mstore(add(order, 0x120), add(ORDER_BYTES, 0x20))
            mstore(add(order, 0x140), authorizationBytes)
            calldatacopy(add(order, 0x160), add(packed, TERMS_BYTES), authorizationBytes)
        }
    }

    /// Carries out one order. A failure undoes it.
    function _attempt(Order memory order, uint256 authorizationBytes, uint256 itemGas) private returns (bool isSwept) {
        assembly ("memory-safe") {
            isSwept := call(itemGas, address(), 0, sub(order, 4), add(0x164, authorizationBytes), 0, 0)
            // The next order may overwrite this one in memory.
            mstore(0x40, sub(order, 0x20))
        }
    }

    /**
     * Presents the authorization to the token. The address must hold the asked amount afterwards. It is no fault if the
     * authorization fails, or does nothing, because somebody has presented it before.
     */
    function _takeAuthorization(Order calldata order, bytes calldata authorization, address deposit)
        private
        returns (uint256 held)
    {
        bool isTaken = _pull(order, authorization, deposit);
        bytes memory reason = isTaken ? bytes("") : _returned();
        held = _heldBy(order.token, deposit);
        if (held >= order.asked) return held;
        require(!isTaken, ShortArrival());
        require(reason.length > 0, NotAuthorized());
        _revertWith(reason);
    }

    /// `transferWithAuthorization` of the asked amount to the deposit address, in the form that the token has.
    function _pull(Order calldata order, bytes calldata authorization, address deposit) private returns (bool isDone) {
        address payer = address(bytes20(authorization[:20]));
        uint256 start = uint40(bytes5(authorization[20:25]));
        uint256 end = uint40(bytes5(authorization[25:30]));
        bytes32 nonce = bytes32(authorization[30:62]);
        bytes calldata signature = authorization[64:];
        bytes memory input;
        if (order.kind == Kind.Key) {
            require(signature.length == 64, MalformedItems());
            // EIP-2098: the highest bit of the second word selects one of two possible keys.
            uint256 vs = uint256(bytes32(signature[32:]));
            input = abi.encodeWithSignature(
                "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)",
                payer,
                deposit,
                order.asked,
                start,
                end,
                nonce,
                27 + (vs >> 255),
                bytes32(signature[:32]),
                vs << 1 >> 1
            );
        } else {
            input = abi.encodeWithSignature(
                "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)",
                payer,
                deposit,
                order.asked,
                start,
                end,
                nonce,
                signature
            );
        }
        address token = order.token;
        assembly ("memory-safe") {
            isDone := call(gas(), token, 0, add(input, 0x20), mload(input), 0, 0)
        }
    }

    /**
     * The fee of an amount: its share of the asked amount, rounded down. More than asked pays no more than the asked fee.
     * Another token than the asked one has other units, so its fee is the share alone.
     */
    function _feeOf(Order calldata order, uint256 amount) private pure returns (uint256) {
        (uint256 asked, uint256 askedFee) = (order.asked, order.askedFee);
        if (order.token == order.askedToken && amount >= asked) return askedFee;
        unchecked {
            return amount * askedFee / asked;
        }
    }

    /// The balance of an account in the token, or in native coin for the zero address.
    function _heldBy(address token, address account) private view returns (uint256) {
        return token == address(0) ? account.balance : _balance(token, account);
    }

    function _payOne(address token, address to, uint256 value, uint256 gasLimit) private returns (bool) {
        return token == address(0) ? _send(to, value, gasLimit) : _transfer(token, to, value, gasLimit);
    }

    /// Emits `Swept`, with the committed words of the order.
    function _tell(Order calldata order, uint256 amount, uint256 fee) private {
        bytes32 topic = Swept.selector;
        assembly ("memory-safe") {
            let data := mload(0x40)
            calldatacopy(data, order, COMMITTED_BYTES)
            mstore(add(data, 0xc0), calldataload(add(order, 0xe0)))
            mstore(add(data, 0xe0), amount)
            mstore(add(data, 0x100), fee)
            log2(data, EVENT_BYTES, topic, calldataload(add(order, 0xc0)))
        }
    }

    /// The CREATE2 address of a proxy: the hash of 0xff, this contract, the salt and the hash of the creation code.
    function _addressOf(bytes32 salt) private view returns (address deposit) {
        bytes32 codeHash = proxyHash;
        assembly ("memory-safe") {
            let data := mload(0x40)
            mstore(data, or(shl(248, 0xff), shl(88, address())))
            mstore(add(data, 21), salt)
            mstore(add(data, 53), codeHash)
            deposit := and(keccak256(data, 85), 0xffffffffffffffffffffffffffffffffffffffff)
        }
    }

    function _create(bytes32 salt) private returns (bool isCreated) {
        assembly ("memory-safe") {
            // Each word is written over the unused beginning of the one behind it.
            let code := add(mload(0x40), 0x20)
            mstore(add(code, 21), PROXY_TAIL)
            mstore(add(code, 6), address())
            mstore(sub(code, 14), PROXY_HEAD)
            isCreated := iszero(iszero(create2(0, code, PROXY_BYTES, salt)))
        }
    }
}
