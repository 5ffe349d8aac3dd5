// How numbers of one kind read in columns and sentences.
#pragma once

#include <string>

namespace attnviz {

/// "+0.25", "-3.00", "0.00": a change, or a share of a logit.
std::string signed_number(double value);

/// "12.5%", "<.1%": a share, as percent_cell() with one decimal.
std::string percent_number(double share);
/// The same of e to the power of a log probability.
std::string percent_of_log(double log_probability);

/// "1.50", without the sign of what was rounded to 0.
std::string two_decimals(double value);

/// "0.950", or the first digits of a small number: "4.8e-04"; "0" only for 0.
std::string small_decimals(double value);

/// "5,248". Precondition: whole, and not negative.
std::string grouped_number(double count);

/// The probability after a change of ln p: "1,200 × less", "1.3 × more", "equally".
std::string factor_words(double log_probability_change);

}  // namespace attnviz
