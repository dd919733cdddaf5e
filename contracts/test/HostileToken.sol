// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A token for attacks on our contracts: it accepts any signature, and lies about balances of one account or of all.
contract HostileToken {
    enum Trick {
        None,
        // `value` bytes of the answer, which is right as far as it goes.
        AnswersBytes,
        // `value` more than there is.
        Boasts,
        // Right at the first question of a transaction, and `value` more at all later ones.
        Flips,
        // At least `value` gas for the answer.
        IsDear,
        BurnsGas,
        // Answers of `value` words, beginning with the right one.
        AnswersWords
    }

    /// The answer to all calls but those of ERC-20: EIP-3009 is one of them.
    enum Pull {
        Moves,
        // It accepts all calls, as a token with a payable fallback does.
        Accepts,
        // It reverts with the gas that the call got.
        TellsGas,
        // It moves the money and reports failure.
        RevertsAfterwards,
        // It runs out of gas.
        BurnsGas
    }

    mapping(address account => uint256) private units;
    mapping(address account => bool) public isListed;
    Trick private trick;
    address private target;
    uint256 private value;
    Pull private pull;
    uint256 private transient asked;

    function play(Trick trick_, address target_, uint256 value_) external {
        (trick, target, value) = (trick_, target_, value_);
    }

    function setPull(Pull pull_) external {
        pull = pull_;
    }

    function list(address account, bool isListed_) external {
        isListed[account] = isListed_;
    }

    function mint(address to, uint256 amount) external {
        units[to] += amount;
    }

    function balanceOf(address account) external view returns (uint256 answer) {
        answer = units[account];
        if (trick == Trick.None || (target != address(0) && target != account)) return answer;
        if (trick == Trick.Boasts) return answer + value;
        if (trick == Trick.Flips) return asked == 0 ? answer : answer + value;
        if (trick == Trick.BurnsGas) while (true) {}
        if (trick == Trick.IsDear) for (uint256 end = gasleft() - value; gasleft() > end;) {}
        uint256 length = trick == Trick.AnswersBytes ? value : trick == Trick.AnswersWords ? 32 * value : 32;
        assembly {
            mstore(0x00, answer)
            return(0x00, length)
        }
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        if (pull == Pull.Accepts) return true;
        _move(from, to, amount);
        return true;
    }

    /// Every form of EIP-3009: each begins with payer, payee and amount.
    fallback() external {
        if (pull == Pull.Accepts) return;
        if (pull == Pull.BurnsGas) while (true) {}
        if (pull == Pull.TellsGas) {
            assembly {
                mstore(0x00, gas())
                revert(0x00, 0x20)
            }
        }
        (address from, address to, uint256 amount) = abi.decode(msg.data[4:100], (address, address, uint256));
        _move(from, to, amount);
        require(pull != Pull.RevertsAfterwards, "HostileToken: no");
    }

    function _move(address from, address to, uint256 amount) private {
        require(!isListed[from] && !isListed[to], "HostileToken: listed");
        asked = 1;
        units[from] -= amount;
        units[to] += amount;
    }
}
